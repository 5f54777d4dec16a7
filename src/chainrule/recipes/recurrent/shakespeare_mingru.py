"""A minGRU writes Shakespeare: a linear recurrence whose gates see the input only.

Three residual blocks of 194 units, trained by truncated backpropagation through time, beside the
other cells at equal numbers of parameters and minutes: see `characters`.
Feng et al. (2024). Notes: J 5.2.
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import Characters


@dataclass(frozen=True, kw_only=True)
class Recipe(Characters):
    """Characters → 194 units, three blocks → the next character."""

    cell: ClassVar[str] = "mingru"

    width: int = 194
    depth: int = 3
    epochs: int = 14

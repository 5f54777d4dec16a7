"""The LRU writes Shakespeare: a linear recurrence with complex eigenvalues.

Three residual blocks of 160 units, trained by truncated backpropagation through time, beside the
other cells at equal numbers of parameters and minutes: see `characters`.
Orvieto et al. (2023). Notes: J 5.2.
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import Characters


@dataclass(frozen=True, kw_only=True)
class Recipe(Characters):
    """Characters → 160 units, three blocks → the next character."""

    cell: ClassVar[str] = "lru"

    width: int = 160
    depth: int = 3
    epochs: int = 12

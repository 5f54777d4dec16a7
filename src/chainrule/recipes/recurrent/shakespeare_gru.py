"""A GRU writes Shakespeare, character by character.

One layer of 446 units, trained by truncated backpropagation through time, beside the
other cells at equal numbers of parameters and minutes: see `characters`.
Cho et al. (2014). Notes: J 5.1.
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import Characters


@dataclass(frozen=True, kw_only=True)
class Recipe(Characters):
    """Characters → 446 units → the next character."""

    cell: ClassVar[str] = "gru"

    width: int = 446
    depth: int = 1
    epochs: int = 12

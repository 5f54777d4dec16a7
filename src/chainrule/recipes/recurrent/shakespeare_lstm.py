"""An LSTM writes Shakespeare, character by character.

One layer of 384 units, trained by truncated backpropagation through time, beside the
other cells at equal numbers of parameters and minutes: see `characters`.
Hochreiter and Schmidhuber (1997). Notes: J 5.1.
"""

from dataclasses import dataclass
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import Characters


@dataclass(frozen=True, kw_only=True)
class Recipe(Characters):
    """Characters → 384 units → the next character."""

    cell: ClassVar[str] = "lstm"

    width: int = 384
    depth: int = 1
    epochs: int = 20

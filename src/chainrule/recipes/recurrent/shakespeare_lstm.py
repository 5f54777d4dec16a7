"""A character-level LSTM on Shakespeare.

One layer of 384 units, trained by truncated backpropagation through time. All cells have equal
parameters and training time: see `recurrent_lm`.
Hochreiter and Schmidhuber (1997). Notes: J 5.1.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import RecurrentLMRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(RecurrentLMRecipe):
    """Characters → 384 units → the next character."""

    cell: ClassVar[str] = "lstm"

    hidden_size: int = 384
    num_layers: int = 1
    settings: Settings = replace(RecurrentLMRecipe.settings, epochs=20)

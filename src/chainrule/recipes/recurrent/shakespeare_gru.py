"""A character-level GRU on Shakespeare.

One layer of 446 units, trained by truncated backpropagation through time. All cells have equal
parameters and training time: see `recurrent_lm`.
Cho et al. (2014). Notes: J 5.1.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import RecurrentLMRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(RecurrentLMRecipe):
    """Characters → 446 units → the next character."""

    cell: ClassVar[str] = "gru"

    hidden_size: int = 446
    num_layers: int = 1
    settings: Settings = replace(RecurrentLMRecipe.settings, epochs=12)

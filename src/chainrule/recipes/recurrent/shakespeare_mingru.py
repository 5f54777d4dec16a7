"""A character-level minGRU on Shakespeare: a linear recurrence gated by the input alone.

Three residual blocks of 194 units, trained by truncated backpropagation through time. All cells
have equal parameters and training time: see `recurrent_lm`.
Feng et al. (2024). Notes: J 5.2.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import RecurrentLMRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(RecurrentLMRecipe):
    """Characters → 194 units, three blocks → the next character."""

    cell: ClassVar[str] = "mingru"

    hidden_size: int = 194
    num_layers: int = 3
    settings: Settings = replace(RecurrentLMRecipe.settings, epochs=14)

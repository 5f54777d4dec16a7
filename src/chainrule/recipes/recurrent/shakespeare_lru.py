"""A character-level LRU on Shakespeare: a linear recurrence with complex eigenvalues.

Three residual blocks of 160 units, trained by truncated backpropagation through time. All cells
have equal parameters and training time: see `recurrent_lm`.
Orvieto et al. (2023). Notes: J 5.2.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.recipes.families.recurrent_lm import RecurrentLMRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(RecurrentLMRecipe):
    """Characters → 160 units, three blocks → the next character."""

    cell: ClassVar[str] = "lru"

    hidden_size: int = 160
    num_layers: int = 3
    settings: Settings = replace(RecurrentLMRecipe.settings, epochs=12)

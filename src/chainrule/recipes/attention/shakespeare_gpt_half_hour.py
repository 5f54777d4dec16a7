"""A larger character-level GPT on Shakespeare: less than half an hour on one core.

`shakespeare-gpt` with twice the context and 1.5 times the width, and dropout against overfitting a
text of a million characters.
Radford et al. (2018); Karpathy (2022), nanoGPT. Notes: J 6.4, L "Transformer Impact".
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from chainrule.data.datasets import tiny_shakespeare
from chainrule.data.splits import Splits
from chainrule.recipes.families.gpt import GPTRecipe
from chainrule.recipes.families.language_model import with_last_tenth
from chainrule.runs.recipe import Metrics, Predictions, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(GPTRecipe):
    """128 characters → 4 blocks of 6 heads, 192 wide → their next ones."""

    reference: ClassVar[str] = "J 6.4, L 'Transformer Impact'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("validation last_tenth", 1.4697, "Karpathy (2022), nanoGPT on a GPU"),
    )

    context_length: int = 128
    hidden_size: int = 192
    num_layers: int = 4
    num_heads: int = 6
    dropout: float = 0.1
    settings: Settings = replace(GPTRecipe.settings, batch_size=24, epochs=10, learning_rate=3e-3)

    def data(self, folder: Path | None) -> Splits:
        return tiny_shakespeare.load(folder, self.seed)

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_last_tenth(super().evaluate(predictions))

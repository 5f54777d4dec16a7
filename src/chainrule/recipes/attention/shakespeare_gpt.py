"""A small character-level GPT on Shakespeare, in nanoGPT's configuration for a CPU.

Four blocks of four heads, 128 wide, with a context of 64 characters; 2,000 steps on twelve random
windows each. The published 1.88 is the loss on the last tenth of the text, here `last_tenth`. Two
things differ: linear layers have biases, as in GPT-2, and the learning rate is four times as large
and decays to zero. The published schedule is --learning-rate 1e-3 --final-rate 0.1.
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
    """64 characters → 4 blocks of 4 heads, 128 wide → their next ones."""

    reference: ClassVar[str] = "J 6.4, L 'Transformer Impact'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("validation last_tenth", 1.88, "Karpathy (2022), nanoGPT on a CPU"),
    )

    settings: Settings = replace(GPTRecipe.settings, learning_rate=4e-3)

    def data(self, folder: Path | None) -> Splits:
        return tiny_shakespeare.load(folder, self.seed)

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_last_tenth(super().evaluate(predictions))

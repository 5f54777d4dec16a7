"""IMDB reviews by a small network on bags of words.

Two hidden layers of 16 units on 10,000 zeros and ones, as in ISL 10.4, with dropout and early
stopping. The linear model, `imdb-lasso`, has the smaller test error, as in L, and so has the LSTM,
`imdb-lstm`, which L puts last. Notes: L "When to Use Deep Learning" (IMDB).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import imdb
from chainrule.data.splits import Splits
from chainrule.data.text.vocabulary import SPECIAL
from chainrule.models.feedforward.bag_of_words import BagOfWords
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Which of 10,000 words occur → 16 units → 16 units → praise or not."""

    reference: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.4)"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.86, "ISL 10.4, about"),
    )

    hidden: tuple[int, ...] = (16, 16)
    """Widths of the hidden layers."""
    dropout: float = 0.5
    """Dropout rate of the hidden layers."""
    settings: Settings = Settings(epochs=30, learning_rate=1e-3, patience=5)

    def data(self, folder: Path | None) -> Splits:
        return imdb.bags(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return BagOfWords(imdb.WORDS + len(SPECIAL), self.hidden, summary.outputs, self.dropout)

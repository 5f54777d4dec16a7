"""Shared by the recurrent Shakespeare recipes: text, budget, truncated backpropagation.

All have about 720,000 parameters and were trained for 15 minutes on one thread; the number of
epochs follows from the speed of each cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch.nn.functional as F
from torch import Tensor

from chainrule.data.datasets import tiny_shakespeare
from chainrule.data.splits import Split, Splits
from chainrule.learning.tasks import LANGUAGE_MODELING, Task
from chainrule.models.recurrent.language_model import LanguageModel
from chainrule.recipes.families import language_model as lm
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions, Published
from chainrule.training import Settings
from chainrule.training.sources import TruncatedBPTT

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class RecurrentLMRecipe(BaseRecipe):
    """A million characters of Shakespeare → the next one."""

    reference: ClassVar[str] = "J 5 (autoregressive), J 5.2"
    published: ClassVar[tuple[Published, ...]] = (
        Published("validation last_tenth", 1.548, "Feng et al. (2024), minGRU"),
    )
    unsupported: ClassVar[Mapping[str, str]] = lm.UNSUPPORTED
    cell: ClassVar[str]

    hidden_size: int
    """Hidden units of each layer."""
    num_layers: int = 1
    """Number of stacked layers."""
    embedding_dim: int = 64
    """Size of a character's embedding."""
    dropout: float = 0.2
    """Dropout rate between layers."""
    chunk_length: int = 128
    """Characters over which gradients are backpropagated."""
    settings: Settings = Settings(
        batch_size=32,
        optimizer="adamw",
        learning_rate=3e-3,
        schedule="one-cycle",
        weight_decay=0.01,
        clip_norm=1.0,
    )

    def data(self, folder: Path | None) -> Splits:
        return tiny_shakespeare.load(folder, self.seed)

    def summarize(self, data: Splits) -> DataSummary:
        return lm.summarize(data)

    def model(self, summary: DataSummary) -> LanguageModel:
        sizes = self.hidden_size, self.num_layers, self.embedding_dim
        return LanguageModel(summary.vocab_size, self.cell, *sizes, self.dropout)

    def task(self, data: Splits) -> Task:
        return LANGUAGE_MODELING

    def source(self, split: Split) -> TruncatedBPTT:
        return TruncatedBPTT(tuple(split), self.chunk_length)

    def evaluate(self, predictions: Predictions) -> Metrics:
        return lm.with_last_tenth(lm.losses(predictions))

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return lm.samples(predictions)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return {"surprise": lm.surprise_figure(predictions, nats)}


def nats(model: LanguageModel, x: Tensor, y: Tensor) -> Tensor:
    """-log p of every character."""
    return F.cross_entropy(model(x[None])[0], y, reduction="none")

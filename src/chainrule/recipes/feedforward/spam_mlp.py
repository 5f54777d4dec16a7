"""Spam e-mails by a regularized network, on the split of ESL (exercise 11.7).

57 word and character frequencies, transformed by log(x + 0.1) and standardized; trained with
dropout, weight decay and a one-cycle schedule. Notes: L exercise 10.6.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import spam
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """57 features → hidden layers → spam or not."""

    reference: ClassVar[str] = "L exercise 10.6 (ESL 11.7)"

    hidden: tuple[int, ...] = (512, 512)
    """Widths of the hidden layers."""
    dropout: float = 0.7
    """Dropout rate of the hidden layers."""
    settings: Settings = Settings(
        epochs=60, schedule="one-cycle", learning_rate=5e-3, weight_decay=1e-3
    )

    def data(self, folder: Path | None) -> Splits:
        return spam.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return MLP(summary.inputs, self.hidden, summary.outputs, dropout=self.dropout)

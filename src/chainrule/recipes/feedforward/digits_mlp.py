"""Small handwritten digits, one hidden layer: the first network to try.

1,797 images of 8 × 8 pixels come with scikit-learn, so nothing is downloaded. Notes: J 2.2.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import digits
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """64 pixels → hidden layers → 10 digits."""

    reference: ClassVar[str] = "J 2.2, L 'Multi-layer perceptrons'"

    hidden: tuple[int, ...] = (128,)
    """Widths of the hidden layers."""
    dropout: float = 0.2
    """Dropout rate of the hidden layers."""
    settings: Settings = Settings(
        epochs=40, batch_size=64, schedule="one-cycle", learning_rate=5e-3
    )

    def data(self, folder: Path | None) -> Splits:
        return digits.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return MLP(summary.inputs, self.hidden, summary.outputs, dropout=self.dropout)

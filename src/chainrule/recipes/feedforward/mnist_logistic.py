"""MNIST by softmax regression: the linear baseline of the table, 7.2 % test error.

Notes: L "MNIST results and insights", J 2.1.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.feedforward.softmax_regression import SoftmaxRegression
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """784 pixels → 10 logits, no hidden layer."""

    reference: ClassVar[str] = "L 'MNIST results and insights'"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.072, "L's table"),)

    settings: Settings = Settings(epochs=30, schedule="cosine", learning_rate=1e-3)

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return SoftmaxRegression(summary.inputs, summary.outputs)

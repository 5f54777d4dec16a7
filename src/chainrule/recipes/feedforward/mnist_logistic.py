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
from chainrule.runs.recipe import Published, Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """784 pixels → 10 logits, no hidden layer."""

    notes: ClassVar[str] = "L 'MNIST results and insights'"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.072, "L's table"),)

    epochs: int = 30
    schedule: str = "cosine"
    learning_rate: float = 1e-3

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return SoftmaxRegression(task.inputs, task.outputs)

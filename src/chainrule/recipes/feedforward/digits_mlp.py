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
from chainrule.runs.recipe import Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """64 pixels → hidden layers → 10 digits."""

    notes: ClassVar[str] = "J 2.2, L 'Multi-layer perceptrons'"

    hidden: tuple[int, ...] = (128,)
    """Widths of the hidden layers."""
    dropout: float = 0.2
    """Share of hidden units dropped in each step."""
    epochs: int = 40
    batch_size: int = 64
    schedule: str = "one-cycle"
    learning_rate: float = 5e-3

    def data(self, folder: Path | None) -> Splits:
        return digits.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return MLP(task.inputs, self.hidden, task.outputs, dropout=self.dropout)

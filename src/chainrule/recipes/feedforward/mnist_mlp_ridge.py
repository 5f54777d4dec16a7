"""MNIST by a network with ridge penalty: 2.3 % test error in the table.

    minimize  mean cross-entropy + ½ μ ‖W‖²

Notes: L "MNIST results and insights", "Weight decay".
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import Published, Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """784-256-128-10, ReLU, 235,146 parameters."""

    notes: ClassVar[str] = "L 'MNIST results and insights', 'Weight decay'"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.023, "L's table"),)

    hidden: tuple[int, ...] = (256, 128)
    """Widths of the hidden layers."""
    epochs: int = 30
    schedule: str = "one-cycle"
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return MLP(task.inputs, self.hidden, task.outputs)

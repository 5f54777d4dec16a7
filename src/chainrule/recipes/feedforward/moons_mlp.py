"""Two interleaved half-moons: a boundary that bends, drawn in the plane and as a surface.

Notes: A 1.2.2 (decision surfaces of a network).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import moons
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """Two coordinates → hidden layers → two moons."""

    notes: ClassVar[str] = "A 1.2.2"

    hidden: tuple[int, ...] = (32, 32)
    """Widths of the hidden layers."""
    activation: str = "relu"
    """relu, tanh, sigmoid, gelu, …"""
    noise: float = 0.15
    """Standard deviation of the points around their moon."""
    number: int = 1000
    """Points in all."""
    epochs: int = 60
    batch_size: int = 32
    schedule: str = "one-cycle"
    learning_rate: float = 1e-2

    def data(self, folder: Path | None) -> Splits:
        return moons.load(folder, self.seed, num_samples=self.number, noise=self.noise)

    def model(self, task: Task) -> nn.Module:
        return MLP(task.inputs, self.hidden, task.outputs, self.activation)

"""XOR, which no single unit can do, by a few hidden units.

Notes: J 1.2 (XOR is not separable), L exercise 10.1.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import xor
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """Two coordinates → a few hidden units → same or different."""

    notes: ClassVar[str] = "J 1.2, L exercise 10.1"

    hidden: tuple[int, ...] = (8,)
    """Widths of the hidden layers; two units can do it, but seldom find it."""
    activation: str = "relu"
    """relu, tanh, sigmoid, gelu, …"""
    noise: float = 0.15
    """Standard deviation of the points around the four corners."""
    number: int = 800
    """Points in all."""
    epochs: int = 40
    batch_size: int = 32
    schedule: str = "one-cycle"
    learning_rate: float = 2e-2

    def data(self, folder: Path | None) -> Splits:
        return xor.load(folder, self.seed, num_samples=self.number, noise=self.noise)

    def model(self, task: Task) -> nn.Module:
        return MLP(task.inputs, self.hidden, task.outputs, self.activation)

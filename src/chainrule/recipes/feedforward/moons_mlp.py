"""Two interleaved half-moons: a nonlinear decision boundary, and the surface above it.

Notes: A 1.2.2 (decision surfaces of a network).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import moons
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Two coordinates → hidden layers → two moons."""

    reference: ClassVar[str] = "A 1.2.2"
    data_fields: ClassVar[tuple[str, ...]] = ("num_samples", "noise")

    hidden: tuple[int, ...] = (32, 32)
    """Widths of the hidden layers."""
    activation: str = "relu"
    """relu, tanh, sigmoid, gelu, …"""
    noise: float = 0.15
    """Standard deviation of the points around their moon."""
    num_samples: int = 1000
    """Number of points."""
    settings: Settings = Settings(
        epochs=60, batch_size=32, schedule="one-cycle", learning_rate=1e-2
    )

    def data(self, folder: Path | None) -> Splits:
        return moons.load(folder, self.seed, num_samples=self.num_samples, noise=self.noise)

    def model(self, summary: DataSummary) -> nn.Module:
        return MLP(summary.inputs, self.hidden, summary.outputs, self.activation)

"""XOR, which is not linearly separable, by a few hidden units.

Notes: J 1.2 (XOR is not separable), L exercise 10.1.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import xor
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Two coordinates → a few hidden units → same or different."""

    reference: ClassVar[str] = "J 1.2, L exercise 10.1"
    data_fields: ClassVar[tuple[str, ...]] = ("num_samples", "noise")

    hidden: tuple[int, ...] = (8,)
    """Widths of the hidden layers; two units suffice but are rarely found by training."""
    activation: str = "relu"
    """relu, tanh, sigmoid, gelu, …"""
    noise: float = 0.15
    """Standard deviation of the points around the four corners."""
    num_samples: int = 800
    """Number of points."""
    settings: Settings = Settings(
        epochs=40, batch_size=32, schedule="one-cycle", learning_rate=2e-2
    )

    def data(self, folder: Path | None) -> Splits:
        return xor.load(folder, self.seed, num_samples=self.num_samples, noise=self.noise)

    def model(self, summary: DataSummary) -> nn.Module:
        return MLP(summary.inputs, self.hidden, summary.outputs, self.activation)

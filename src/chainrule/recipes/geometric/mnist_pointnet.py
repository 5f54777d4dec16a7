"""MNIST without a grid: digits as sets of points in the plane, by PointNet.

Every step samples other points of each digit, rotates and scales it and adds noise.
Qi et al. (2017), PointNet, appendix: 0.8 % test error. Notes: J 7.3.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import mnist_points
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose
from chainrule.learning.point_augmentation import (
    jitter,
    random_rotation,
    random_scale,
    sample_points,
)
from chainrule.models.geometric.pointnet import PointNet
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions, Published
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Two T-nets, 64 local and 256 global features, then 512 and 256 units and 10 logits."""

    reference: ClassVar[str] = "J 7.3"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.0078, "Qi et al. (2017), PointNet, 256 points"),
    )

    features: int = 256
    """Size of a digit's global feature vector."""
    visible: int = 64
    """Points sampled from each digit in training; evaluation uses all 128."""
    dropout: float = 0.3
    """Dropout rate of the last hidden layer."""
    degrees: float = 10.0
    """Largest rotation in degrees."""
    stretch: float = 0.1
    """Largest relative change of scale of each axis."""
    jitter: float = 0.02
    """Standard deviation of the noise on every coordinate, clipped at 2.5 of them."""
    settings: Settings = Settings(
        epochs=6,
        batch_size=64,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=3e-3,
        weight_decay=0.05,
    )

    def data(self, folder: Path | None) -> Splits:
        return mnist_points.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return PointNet(2, summary.outputs, features=self.features, dropout=self.dropout)

    def augmentation(self) -> Augment:
        return compose(
            sample_points(self.visible),
            random_rotation(self.degrees, dimensions=2),
            random_scale(self.stretch, dimensions=2),
            jitter(self.jitter, 2.5 * self.jitter, dimensions=2),
        )

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.recipes.families.point_pictures import classification_figures

        return super().figures(predictions) | classification_figures(predictions)

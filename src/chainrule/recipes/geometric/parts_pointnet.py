"""Part segmentation of tables, lamps, mugs and rockets by PointNet.

Each point is classified by its local features and those of the whole cloud. Clouds are rotated
about the vertical axis and scaled, with noise on the points. Qi et al. (2017), PointNet.
Notes: J 7.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import joined_parts
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose
from chainrule.learning.metrics import MEAN_IOU, METRICS
from chainrule.learning.point_augmentation import jitter, random_rotation, random_scale
from chainrule.learning.tasks import SEGMENTATION, Task
from chainrule.models.geometric.pointnet_segmentation import PointNetSegmentation
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions, one_label
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Two T-nets, 64 local and 1024 global features, then 512, 256 and 128 units for each point."""

    reference: ClassVar[str] = "J 7.3"
    unsupported: ClassVar[Mapping[str, str]] = {
        **one_label("a cloud has one label per point"),
        "members": "a cloud has one label per point",
    }

    features: int = 1024
    """Size of a cloud's global feature vector."""
    degrees: float = 180.0
    """Largest rotation about the vertical axis, in degrees."""
    stretch: float = 0.1
    """Largest relative change of scale of each axis."""
    jitter: float = 0.01
    """Standard deviation of the noise on every coordinate, clipped at 2.5 of them."""
    settings: Settings = Settings(
        epochs=12,
        batch_size=16,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=2e-3,
        weight_decay=0.05,
    )

    def data(self, folder: Path | None) -> Splits:
        return joined_parts.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return PointNetSegmentation(3, summary.outputs, features=self.features)

    def task(self, data: Splits) -> Task:
        metrics = (MEAN_IOU, METRICS["point_accuracy"])
        return replace(SEGMENTATION, metrics=metrics)

    def augmentation(self) -> Augment:
        return compose(
            random_rotation(self.degrees),
            random_scale(self.stretch),
            jitter(self.jitter, 2.5 * self.jitter),
        )

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.recipes.families.point_pictures import segmentation_figures

        return segmentation_figures(predictions)

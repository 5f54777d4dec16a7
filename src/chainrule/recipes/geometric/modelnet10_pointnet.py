"""ModelNet10: furniture classified from point clouds by PointNet.

Every step samples other points of each cloud, flips it, rotates it about the vertical axis, scales
it and adds noise. Qi et al. (2017), PointNet; Wu et al. (2015), ModelNet. Notes: J 7.3.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import modelnet10
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose
from chainrule.learning.point_augmentation import (
    drop_points,
    jitter,
    random_flip,
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
    """Two T-nets, 64 local and 1024 global features, then 512 and 256 units and 10 logits."""

    reference: ClassVar[str] = "J 7.3"
    data_fields: ClassVar[tuple[str, ...]] = ("normals",)
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.8354, "Wu et al. (2015), 3D ShapeNets on voxels"),
    )

    features: int = 1024
    """Size of a cloud's global feature vector."""
    visible: int = 384
    """Points sampled from each cloud in training; evaluation uses all 1,024."""
    dropout: float = 0.4
    """Dropout rate of the last hidden layer."""
    degrees: float = 10.0
    """Largest rotation about the vertical axis, in degrees."""
    stretch: float = 0.15
    """Largest relative change of scale of each axis."""
    jitter: float = 0.02
    """Standard deviation of the noise on every coordinate, clipped at 2.5 of them."""
    missing: float = 0.5
    """Largest share of points dropped from a training cloud."""
    normals: bool = False
    """Use the surface normals as further inputs; needs the archive of meshes."""
    settings: Settings = Settings(
        epochs=36,
        batch_size=32,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=2e-3,
        weight_decay=0.05,
        label_smoothing=0.1,
    )

    def data(self, folder: Path | None) -> Splits:
        return modelnet10.load(folder, self.seed, normals=self.normals)

    def model(self, summary: DataSummary) -> nn.Module:
        return PointNet(
            3,
            summary.outputs,
            in_features=summary.shape[1],
            features=self.features,
            dropout=self.dropout,
        )

    def augmentation(self) -> Augment:
        return compose(
            sample_points(self.visible),
            drop_points(self.missing),
            random_flip(),
            random_rotation(self.degrees),
            *([] if self.normals else [random_scale(self.stretch)]),
            jitter(self.jitter, 2.5 * self.jitter),
        )

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.recipes.families.point_pictures import classification_figures

        return super().figures(predictions) | classification_figures(predictions)

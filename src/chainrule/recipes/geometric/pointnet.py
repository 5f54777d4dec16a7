"""Your own point clouds: a network for a folder of OFF, PLY, XYZ or NPY files.

    chainrule train pointnet --clouds DIR                        one sub-folder for each class
    chainrule train pointnet --clouds DIR --labels labels.csv    or a table of files and labels

Meshes become points on their faces. Every step samples other points of each cloud, rotates it about
the vertical axis, scales it and adds noise. Notes: J 7.2, J 7.3.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from torch import nn

from chainrule.data.readers.points.clouds import clouds
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose
from chainrule.learning.point_augmentation import (
    drop_points,
    jitter,
    random_rotation,
    random_scale,
    sample_points,
)
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.models.geometric.pointnet import PointNet
from chainrule.recipes.families.class_reports import (
    calibration_figure,
    class_report,
    with_class_metrics,
)
from chainrule.recipes.families.few_updates import with_note_on_updates
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Points of the plane or of space, maybe with normals → PointNet or Deep Sets → a class."""

    reference: ClassVar[str] = "J 7.3"
    data_fields: ClassVar[tuple[str, ...]] = ("clouds", "labels", "num_points", "normals")

    clouds: str
    """Folder of point clouds, with one sub-folder for each class."""
    labels: str = ""
    """CSV file of files within the folder and their labels, in place of sub-folders."""
    num_points: int = 1024
    """Points of every cloud; of a mesh so many are sampled on its faces."""
    normals: bool = False
    """Use the normals as further inputs: those of the faces, or the numbers after x, y and z."""
    model_name: Literal["pointnet", "deepsets"] = "pointnet"
    """PointNet with its two T-nets, or a Deep Set: the maximum of a network of each point."""
    features: int = 256
    """Size of a cloud's global feature vector."""
    visible: int = 384
    """Points sampled from each cloud in training; evaluation uses all."""
    dropout: float = 0.3
    """Dropout rate of the last hidden layer."""
    degrees: float = 15.0
    """Largest rotation about the vertical axis z, or of the plane, in degrees."""
    stretch: float = 0.1
    """Largest relative change of scale of each axis."""
    jitter: float = 0.02
    """Standard deviation of the noise on every coordinate, clipped at 2.5 of them."""
    missing: float = 0.5
    """Largest share of points dropped from a training cloud."""
    settings: Settings = Settings(
        epochs=30,
        batch_size=16,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=2e-3,
        weight_decay=0.05,
    )

    def __post_init__(self) -> None:
        for name in ("clouds", "labels"):  # the run must be able to find them from any folder
            if value := getattr(self, name):
                object.__setattr__(self, name, str(Path(value).resolve()))

    def data(self, folder: Path | None) -> Splits:
        return clouds(self.clouds, self.labels or None, self.seed, self.num_points, self.normals)

    def dimensions(self, width: int) -> int:
        """Of the space, by the numbers of a point."""
        return width // (1 + self.normals)

    def summarize(self, data: Splits) -> DataSummary:
        return with_note_on_updates(super().summarize(data), self.settings)

    def model(self, summary: DataSummary) -> nn.Module:
        width = summary.shape[1]
        if self.model_name == "deepsets":
            phi = MLP(width, (64, 128), self.features)
            rho = MLP(self.features, (128,), summary.outputs, dropout=self.dropout)
            return DeepSets(phi, rho, "max")
        return PointNet(
            self.dimensions(width),
            summary.outputs,
            in_features=width,
            features=self.features,
            dropout=self.dropout,
        )

    def augmentation(self) -> Augment:
        def transform(x):  # type: ignore[no-untyped-def]
            space = self.dimensions(x.shape[2])
            return compose(
                sample_points(self.visible),
                drop_points(self.missing),
                random_rotation(self.degrees, space),
                *([] if self.normals else [random_scale(self.stretch, space)]),
                jitter(self.jitter, 2.5 * self.jitter, space),
            )(x)

        return transform

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.recipes.families.point_pictures import classification_figures

        drawn = super().figures(predictions) | classification_figures(predictions)
        return drawn | {"calibration": calibration_figure(predictions)}

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_class_metrics(predictions, super().evaluate(predictions))

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return class_report(predictions)

"""The parts of tables, lamps, mugs and rockets, point by point, by PointNet.

Each point sees itself and the whole cloud. Clouds are turned about the upward axis, stretched a
little and their points moved in every step. Qi et al. (2017), PointNet. Notes: J 7.3.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import joined_parts
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.augmentation import compose
from chainrule.learning.losses import pixel_cross_entropy
from chainrule.learning.metrics import GREATER_IS_BETTER, mean_iou, pixel_accuracy
from chainrule.learning.point_augmentation import jitter, random_rotation, random_scale
from chainrule.learning.tasks import Objective
from chainrule.models.geometric.pointnet_segmentation import PointNetSegmentation
from chainrule.runs.recipe import Task, Trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """Two T-nets, 64 local and 1024 global features, then 512, 256 and 128 units for each point."""

    notes: ClassVar[str] = "J 7.3"

    features: int = 1024
    """Global features of a cloud."""
    degrees: float = 180.0
    """Largest turn about the upward axis."""
    stretch: float = 0.1
    """Largest change of the length of each axis."""
    jitter: float = 0.01
    """Spread of the noise on every coordinate, cut off at 2.5 times as much."""
    epochs: int = 12
    batch_size: int = 16
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 2e-3
    weight_decay: float = 0.05

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_smoothing or self.members > 1 or self.teacher:
            raise InputError(
                "--label-smoothing, --members and --teacher are for one label per cloud; "
                "parts-pointnet has one per point, leave them out"
            )

    def data(self, folder: Path | None) -> Splits:
        return joined_parts.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return PointNetSegmentation(3, task.outputs, features=self.features)

    def objective(self, data: Splits) -> Objective:
        augment = compose(
            random_rotation(self.degrees),
            random_scale(self.stretch),
            jitter(self.jitter, 2.5 * self.jitter),
        )
        return Objective(
            pixel_cross_entropy,
            {"mean_iou": mean_iou, "point_accuracy": pixel_accuracy},
            augment=augment,
            greater=GREATER_IS_BETTER | {"point_accuracy"},
        )

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        from chainrule.recipes.families.point_pictures import segmented

        return segmented(model, data)

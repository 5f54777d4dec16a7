"""MNIST without a grid: digits as sets of points in the plane, by PointNet.

Every step draws other points of each digit, turns and stretches it a little and moves its points.
Qi et al. (2017), PointNet, appendix: 0.8 % of mistakes. Notes: J 7.3.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import mnist_points
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import compose
from chainrule.learning.point_augmentation import (
    jitter,
    random_rotation,
    random_scale,
    sample_points,
)
from chainrule.learning.tasks import Objective
from chainrule.models.geometric.pointnet import PointNet
from chainrule.runs.recipe import Published, Task, Trained, objective_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """Two T-nets, 64 local and 256 global features, then 512 and 256 units and 10 logits."""

    notes: ClassVar[str] = "J 7.3"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.0078, "Qi et al. (2017), PointNet, 256 points"),
    )

    features: int = 256
    """Global features of a digit."""
    visible: int = 64
    """Points of each digit that a training step sees; all 128 are seen in evaluation."""
    dropout: float = 0.3
    """Share of the last hidden units that are dropped in training."""
    degrees: float = 10.0
    """Largest turn."""
    stretch: float = 0.1
    """Largest change of the length of each axis."""
    jitter: float = 0.02
    """Spread of the noise on every coordinate, cut off at 2.5 times as much."""
    epochs: int = 6
    batch_size: int = 64
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 3e-3
    weight_decay: float = 0.05

    def data(self, folder: Path | None) -> Splits:
        return mnist_points.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return PointNet(2, task.outputs, features=self.features, dropout=self.dropout)

    def objective(self, data: Splits) -> Objective:
        augment = compose(
            sample_points(self.visible),
            random_rotation(self.degrees, dimensions=2),
            random_scale(self.stretch, dimensions=2),
            jitter(self.jitter, 2.5 * self.jitter, dimensions=2),
        )
        return replace(objective_of(data), augment=augment)

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        from chainrule.recipes.families.point_pictures import classified

        return super().pictures(model, data) | classified(model, data)

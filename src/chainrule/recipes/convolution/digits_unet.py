"""Digits cut out of textured ground by a U-Net, pixel by pixel.

Every pixel of a scene is ground or ink. Ink is brighter than its ground in half of the scenes and
darker in the others, and the ground often has the same gray, so that the network must see strokes.
Ronneberger, Fischer and Brox (2015), U-Net. Notes: A 3.1 (a heading).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import digit_scenes
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import PIXELS, Objective
from chainrule.models.convolution.unet import UNet
from chainrule.runs.recipe import Task, Trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """16 to 128 channels at four scales, from 48 × 48 to 6 × 6."""

    notes: ClassVar[str] = "A 3.1 (heading)"

    width: int = 16
    """Channels at full size; twice as many after each halving."""
    scales: int = 3
    """How often the picture is halved."""
    epochs: int = 8
    batch_size: int = 32
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 3e-3
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_smoothing or self.members > 1 or self.teacher:
            raise InputError(
                "--label-smoothing, --members and --teacher are for one label per picture; "
                "digits-unet has one per pixel, leave them out"
            )

    def data(self, folder: Path | None) -> Splits:
        return digit_scenes.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return UNet(task.shape[0], task.outputs, self.width, self.scales)

    def objective(self, data: Splits) -> Objective:
        return PIXELS

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        from chainrule.runs.pictures import segmented

        return segmented(model, data)

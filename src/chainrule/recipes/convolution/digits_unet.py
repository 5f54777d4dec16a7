"""Digits segmented from textured backgrounds by a U-Net.

Every pixel of a scene is ground or ink. Ink is brighter than the ground in half of the scenes and
darker in the others, and the ground often has the same gray, so the network must recognize strokes.
Ronneberger, Fischer and Brox (2015), U-Net. Notes: A 3.1 (a heading).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import digit_scenes
from chainrule.data.splits import Splits
from chainrule.learning.tasks import SEGMENTATION, Task
from chainrule.models.convolution.unet import UNet
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions, one_label
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """16 to 128 channels at four scales, from 48 × 48 to 6 × 6."""

    reference: ClassVar[str] = "A 3.1 (heading)"
    unsupported: ClassVar[Mapping[str, str]] = {
        **one_label("an image has one label per pixel"),
        "members": "an image has one label per pixel",
    }

    base_channels: int = 16
    """Channels at full size; twice as many after each halving."""
    depth: int = 3
    """How often the picture is halved."""
    settings: Settings = Settings(
        epochs=8,
        batch_size=32,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=3e-3,
        weight_decay=0.01,
    )

    def data(self, folder: Path | None) -> Splits:
        return digit_scenes.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return UNet(summary.shape[0], summary.outputs, self.base_channels, self.depth)

    def task(self, data: Splits) -> Task:
        return SEGMENTATION

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.runs.pictures import segmentation_pictures

        return segmentation_pictures(predictions)

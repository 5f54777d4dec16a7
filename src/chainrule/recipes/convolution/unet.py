"""Your own images with masks: a U-Net that gives every pixel its class.

    chainrule train unet --images DIR --masks DIR       a.jpg and a.png: same name, same size
    chainrule predict RUN new.jpg DIR --out masks       writes masks of the size of the images

A mask is a PNG file whose gray values, palette indices or colors are the classes. Images and masks
are stretched to one square. Training images are mirrored at random together with their masks.
Ronneberger, Fischer and Brox (2015), U-Net. Notes: A 3.1 (a heading).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.readers.images.masked_images import MAX_MASK_CLASSES, masked_images
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import SEGMENTATION, Task
from chainrule.models.convolution.unet import UNet
from chainrule.recipes.families.photographs import standardize, standardized
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions, one_label
from chainrule.training import Settings
from chainrule.training.sources import BatchSource, MirroredRows

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Square images → a U-Net → the class of every pixel."""

    reference: ClassVar[str] = "A 3.1 (heading)"
    data_fields: ClassVar[tuple[str, ...]] = (
        "images",
        "masks",
        "size",
        "gray",
        "max_classes",
        "class_names",
    )
    unsupported: ClassVar[Mapping[str, str]] = {
        **one_label("an image has one label per pixel"),
        "members": "an image has one label per pixel",
        "sampling": "images are mirrored together with their masks",
    }

    images: str
    """Folder of images."""
    masks: str
    """Folder of PNG masks, each with the name and the size of its image."""
    size: int = 0
    """Height and width in pixels; 0 takes the median of the shorter sides, at most 128."""
    gray: bool = False
    """Drop the colors of the images."""
    max_classes: int = MAX_MASK_CLASSES
    """How many different values the masks may have."""
    class_names: tuple[str, ...] = ()
    """Names of the classes, in the order of their values in the masks."""
    base_channels: int = 16
    """Channels at full size; twice as many after each halving."""
    depth: int = 3
    """How often the image is halved."""
    mirror: bool = True
    """Mirror training images and their masks left and right at random."""
    settings: Settings = Settings(
        epochs=20,
        batch_size=16,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=3e-3,
        weight_decay=0.01,
    )

    def __post_init__(self) -> None:
        for name in ("images", "masks"):  # the run must be able to find them from any folder
            object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))

    def data(self, folder: Path | None) -> Splits:
        found = masked_images(
            self.images, self.masks, self.seed, self.size, self.gray, self.max_classes
        )
        if not self.class_names:
            return found
        if len({*self.class_names}) != len(found.classes):
            raise InputError(
                f"`class_names` gives {len({*self.class_names})} different names; the masks have "
                f"{len(found.classes)} values: {', '.join(found.classes)}"
            )
        return replace(found, classes=self.class_names)

    def model(self, summary: DataSummary) -> nn.Module:
        channels = summary.shape[0]
        network = UNet(channels, summary.outputs, self.base_channels, self.depth)
        return standardized(network, channels)

    def initialize(self, model: nn.Module, data: Splits) -> None:
        standardize(model, data.train.x)

    def task(self, data: Splits) -> Task:
        return SEGMENTATION

    def source(self, split: Split) -> BatchSource:
        return MirroredRows(tuple(split)) if self.mirror else super().source(split)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.runs.pictures import segmentation_pictures

        return segmentation_pictures(predictions)

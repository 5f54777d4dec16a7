"""Your own images: a network for a folder of PNG, JPEG or WebP files.

    chainrule train cnn --images DIR                        one sub-folder for each class
    chainrule train cnn --images DIR --labels labels.csv    or a table of files and labels
    chainrule train cnn --images DIR --from FOLDER          a ViT or ResNet of the Hugging Face hub

Images are cropped and resized to one size, kept as bytes on the disk, and standardized by the mean
and standard deviation of each channel. Training images are shifted and mirrored at random, and on
request rotated, zoomed and changed in color.
Notes: J 4.2.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from torch import nn

from chainrule.data.readers.images.images import images
from chainrule.data.readers.images.photos import Resize
from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.augmentation import (
    Augment,
    affine,
    color_jitter,
    compose,
    horizontal_flip,
    random_crop,
)
from chainrule.models.attention.vit import ViT
from chainrule.models.convolution.cnn import CNN
from chainrule.models.convolution.resnet import ResNet
from chainrule.pretrained.hub import image_network
from chainrule.recipes.families.class_reports import (
    calibration_figure,
    check_threshold,
    chosen_decision,
    class_report,
    threshold_of,
    with_class_metrics,
)
from chainrule.recipes.families.few_updates import with_note_on_updates
from chainrule.recipes.families.hub_sizes import take_sizes
from chainrule.recipes.families.photographs import standardize, standardized
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Square images → a convolutional, residual or attention network → their class."""

    reference: ClassVar[str] = "J 4.2"
    data_fields: ClassVar[tuple[str, ...]] = ("images", "labels", "size", "resize", "gray")

    images: str
    """Folder of images, with one sub-folder for each class."""
    labels: str = ""
    """CSV file of files within the folder and their labels, in place of sub-folders."""
    from_run: str = ""
    """A finished run, a .safetensors file, or a folder of the Hugging Face hub with a ViT or a
    ResNet, whose weights this run starts from; a folder's network and sizes are taken, too."""
    size: int = 0
    """Height and width in pixels; 0 takes the median of the shorter sides, at most 64."""
    resize: Resize = "crop"
    """How an oblong image becomes a square: its middle, with black bars, or stretched."""
    gray: bool = False
    """Drop the colors."""
    model_name: Literal["cnn", "resnet20", "resnet18", "resnet34", "resnet50", "vit"] = "cnn"
    """The network; resnet20 is for small images, resnet18, 34 and 50 for about 224 pixels."""
    filters: tuple[int, ...] = (32, 64, 128)
    """Filters of the two convolutions of each stage of cnn; a stage halves the image."""
    dropout: float = 0.1
    """Dropout rate of cnn and vit."""
    patch_size: int = 8
    """Pixels along each side of a patch of vit."""
    hidden_size: int = 128
    """Size of a patch's hidden vector in vit."""
    num_layers: int = 6
    """Number of transformer blocks of vit."""
    num_heads: int = 4
    """Attention heads of each block of vit."""
    padding: int = 4
    """Largest random shift of a training image, in pixels."""
    mirror: bool = True
    """Mirror training images left and right at random; not for text or digits."""
    rotation: float = 0.0
    """Rotate training images at random by up to so many degrees."""
    zoom: float = 0.0
    """Enlarge or shrink training images at random by up to this share of their size."""
    color: float = 0.0
    """Change brightness, contrast and saturation of training images by up to this share."""
    threshold: Literal["half", "f1", "balanced"] = "half"
    """How `predict` decides between two classes: for the more probable one, or at the probability
    with the largest F1 or balanced accuracy on the validation split."""
    settings: Settings = Settings(
        epochs=20, optimizer="adamw", schedule="one-cycle", learning_rate=3e-3, weight_decay=0.05
    )

    def __post_init__(self) -> None:
        for name in ("images", "labels"):  # the run must be able to find them from any folder
            if value := getattr(self, name):
                object.__setattr__(self, name, str(Path(value).resolve()))
        for name, most in (("rotation", 180), ("zoom", 0.9), ("color", 1)):
            if not 0 <= getattr(self, name) <= most:
                raise InputError(f"`{name}` must be from 0 to {most}, got {getattr(self, name)}")
        if self.from_run:
            object.__setattr__(self, "from_run", str(Path(self.from_run).resolve()))
            take_sizes(self, image_network, type(self))

    def data(self, folder: Path | None) -> Splits:
        return images(
            self.images, self.labels or None, self.seed, self.size, self.resize, self.gray
        )

    def summarize(self, data: Splits) -> DataSummary:
        check_threshold(self.threshold, data.classes)
        return with_note_on_updates(super().summarize(data), self.settings)

    def model(self, summary: DataSummary) -> nn.Module:
        return standardized(self.classifier(summary), summary.shape[0])

    def classifier(self, summary: DataSummary) -> nn.Module:
        """The network on standardized images."""
        channels, height, width = summary.shape
        if self.model_name == "cnn":
            stages = [(number, number) for number in self.filters]
            return CNN(
                (channels, height, width),
                stages,
                summary.outputs,
                dropout=self.dropout,
                norm="batch",
            )
        if self.model_name == "vit":
            sizes = self.hidden_size, self.num_layers, self.num_heads
            shape = (height, width), self.patch_size, channels, summary.outputs
            return ViT(*shape, *sizes, self.dropout)
        depth = int(self.model_name.removeprefix("resnet"))
        if depth == 20:
            return ResNet.cifar(depth, summary.outputs, channels)
        if channels != 3:
            raise InputError(f"`model_name` {self.model_name} takes colors; leave out `gray`")
        return ResNet.imagenet(depth, summary.outputs)

    def initialize(self, model: nn.Module, data: Splits) -> None:
        standardize(model, data.train.x)

    def augmentation(self) -> Augment | None:
        augments = [random_crop(self.padding)] if self.padding else []
        if self.rotation or self.zoom:
            augments.append(affine(self.rotation, self.zoom, 0.0))
        if self.mirror:
            augments.append(horizontal_flip())
        if self.color:
            augments.append(color_jitter(self.color))
        return compose(*augments) if augments else None

    def decision(self, predictions: Predictions) -> dict[str, Any]:
        return chosen_decision(predictions, self.threshold)

    def evaluate(self, predictions: Predictions) -> Metrics:
        chosen = threshold_of(predictions, self.threshold)
        return with_class_metrics(predictions, super().evaluate(predictions), chosen)

    def texts(self, predictions: Predictions) -> dict[str, str]:
        chosen = threshold_of(predictions, self.threshold)
        return super().texts(predictions) | class_report(predictions, chosen)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return super().figures(predictions) | {"calibration": calibration_figure(predictions)}

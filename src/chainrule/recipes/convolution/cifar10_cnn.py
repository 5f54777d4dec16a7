"""CIFAR-10 by four convolutional layers with batch normalization, random crops and flips.

The notes report about 75 % accuracy for four layers; batch normalization, augmentation and the
one-cycle schedule add the rest. See also `cifar10-resnet20`. Notes: A 2.2.3, J 4.2, L appendix.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cifar10
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose, horizontal_flip, random_crop
from chainrule.models.convolution.cnn import CNN
from chainrule.nn.standardized import Standardized
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """32, 64, 128 and 256 kernels of 3 × 3, each layer followed by max pooling, then 10 logits."""

    reference: ClassVar[str] = "A 2.2.3, J 4.2, L appendix"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.25, "A 2.2.3, about"),)

    filters: tuple[int, ...] = (32, 64, 128, 256)
    """Number of filters of each layer."""
    padding: int = 4
    """Largest shift in pixels."""
    settings: Settings = Settings(
        epochs=30, optimizer="nesterov", schedule="one-cycle", learning_rate=0.05, weight_decay=5e-4
    )

    def data(self, folder: Path | None) -> Splits:
        return cifar10.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        channels, height, width = summary.shape
        network = CNN((channels, height, width), self.filters, summary.outputs, norm="batch")
        return Standardized(network, cifar10.MEAN, cifar10.SPREAD)

    def augmentation(self) -> Augment:
        return compose(random_crop(self.padding), horizontal_flip())

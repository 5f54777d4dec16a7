"""CIFAR-10 by a residual network of 20 layers, in 20 epochs instead of the paper's 160.

The one-cycle schedule makes up for most of the missing epochs. Images are cropped and flipped at
random, and only kernels decay. `cifar10-plain20` is the same network without shortcuts.
He et al. (2016), Deep Residual Learning; Smith and Topin (2018), Super-Convergence.
Notes: J 2.3, A 2.2.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cifar10
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose, horizontal_flip, random_crop
from chainrule.models.convolution.resnet import ResNet
from chainrule.nn.standardized import Standardized
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """3 × 3 blocks of 16, 32 and 64 channels."""

    reference: ClassVar[str] = "J 2.3, A 2.2"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.0875, "He et al. (2016), 160 epochs"),
    )

    depth: int = 20
    """Number of layers with weights, 6n + 2."""
    padding: int = 4
    """Largest shift in pixels."""
    settings: Settings = Settings(
        epochs=20, optimizer="nesterov", schedule="one-cycle", learning_rate=0.2, weight_decay=3e-4
    )

    def data(self, folder: Path | None) -> Splits:
        return cifar10.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        network = ResNet.cifar(self.depth, summary.outputs, summary.shape[0])
        return Standardized(network, cifar10.MEAN, cifar10.SPREAD)

    def augmentation(self) -> Augment:
        return compose(random_crop(self.padding), horizontal_flip())

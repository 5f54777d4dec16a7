"""CIFAR-10 by a vision transformer, trained for as long as `cifar10-resnet20`.

A convolution is local and translation-equivariant by construction; a transformer must learn both,
and 45,000 images are few for that. The augmentation and the training time are those of the residual
network; the parameters are more. Dosovitskiy et al. (2021), on inductive bias. Notes: J 6.6.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cifar10
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, compose, horizontal_flip, random_crop
from chainrule.nn.standardized import Standardized
from chainrule.recipes.families.vit import ViTRecipe
from chainrule.runs.recipe import DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(ViTRecipe):
    """64 patches of 4 × 4 pixels → 6 blocks of 4 heads, 96 wide → 10 logits."""

    reference: ClassVar[str] = "J 6.6"

    hidden_size: int = 96
    num_layers: int = 6
    padding: int = 4
    """Largest shift in pixels."""
    settings: Settings = replace(ViTRecipe.settings, epochs=14, learning_rate=7e-4)

    def data(self, folder: Path | None) -> Splits:
        return cifar10.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return Standardized(super().model(summary), cifar10.MEAN, cifar10.SPREAD)

    def augmentation(self) -> Augment:
        return compose(random_crop(self.padding), horizontal_flip())

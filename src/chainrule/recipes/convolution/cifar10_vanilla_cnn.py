"""CIFAR-10 by a vanilla network of four convolutional layers: 75 % in 14 epochs.

The notes report about 75 % before they turn to residual networks, without saying after how long;
8 epochs at a constant rate reach 71 %. Convolutions, max pooling and dropout are trained by Adam at
a rate that falls to zero, without batch normalization or augmentation. The notes give the number of
layers only; 16, 32, 32 and 64 filters and the rates of dropout are those of the notebook they link
to, which goes on with two more convolutions. `cifar10-cnn` has four layers too, with everything
that is missing here. Notes: A 2.2.3, J 4.2, L "Complete CNN architecture".
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cifar10
from chainrule.data.splits import Splits
from chainrule.models.convolution.cnn import CNN
from chainrule.nn.standardized import Standardized
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """16 and 32, then 32 and 64 kernels of 3 × 3, each pair followed by max pooling; 256-10."""

    reference: ClassVar[str] = "A 2.2.3, J 4.2, L 'Complete CNN architecture'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("validation error", 0.25, "A 2.2.3, about"),
    )

    filters: tuple[int, int, int, int] = (16, 32, 32, 64)
    """Number of filters of the four convolutions, two before each pooling."""
    hidden: int = 256
    """Units of the dense layer."""
    dropout: tuple[float, float, float] = (0.25, 0.35, 0.5)
    """Dropout rate after each stage and after the dense layer."""
    settings: Settings = Settings(
        epochs=14, batch_size=64, optimizer="adam", schedule="cosine", learning_rate=1e-3
    )

    def data(self, folder: Path | None) -> Splits:
        return cifar10.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        channels, height, width = summary.shape
        network = CNN(
            (channels, height, width),
            (self.filters[:2], self.filters[2:]),
            summary.outputs,
            hidden=(self.hidden,),
            dropout=self.dropout,
        )
        return Standardized(network, cifar10.MEAN, cifar10.SPREAD)

"""MNIST by a convolutional network with affine augmentation: 0.5 % test error.

Three stages of two convolutions; the digits are rotated, scaled and translated at random.
Notes: A 2.2.3 ("well beyond 99 %"), L "Tricks of the trade", J 4.2.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, affine
from chainrule.models.convolution.cnn import CNN
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """2 × 16, 2 × 32 and 2 × 64 kernels of 3 × 3 with batch normalization, then 10 logits."""

    reference: ClassVar[str] = "A 2.2.3, J 4.2, L 'Tricks of the trade'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.01, "A 2.2.3: well below"),
    )

    filters: tuple[int, ...] = (16, 32, 64)
    """Number of filters of the two convolutions of each stage."""
    dropout: float = 0.1
    """Dropout rate after each stage."""
    degrees: float = 10.0
    """Largest rotation in degrees."""
    scaling: float = 0.1
    """Largest relative change of scale."""
    shift: float = 0.07
    """Largest translation, as a fraction of the image size."""
    settings: Settings = Settings(
        epochs=20, optimizer="adamw", schedule="one-cycle", learning_rate=5e-3, weight_decay=0.05
    )

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        channels, height, width = summary.shape
        stages = [(number, number) for number in self.filters]
        return CNN(
            (channels, height, width), stages, summary.outputs, dropout=self.dropout, norm="batch"
        )

    def augmentation(self) -> Augment:
        return affine(self.degrees, self.scaling, self.shift)

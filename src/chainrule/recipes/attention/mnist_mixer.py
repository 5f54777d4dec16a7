"""MNIST by an MLP-Mixer: patches are mixed by a matrix of weights in place of attention.

The sizes and the augmentation of `mnist-vit`, without attention and without positions: which patch
speaks to which is a parameter and not computed from the image.
Tolstikhin et al. (2021), MLP-Mixer. Notes: L "Transformers: Properties" (less inductive bias).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, affine
from chainrule.models.attention.mlp_mixer import MLPMixer
from chainrule.runs.recipe import BaseRecipe, DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """49 patches of 4 × 4 pixels → 4 blocks of two MLPs, 64 wide → the mean patch → 10 logits."""

    reference: ClassVar[str] = "L 'Transformers: Properties'"

    patch_size: int = 4
    """Pixels along each side of a patch."""
    hidden_size: int = 64
    """Size of a patch's hidden vector."""
    num_layers: int = 4
    """Number of blocks."""
    feedforward_sizes: tuple[int, int] = (64, 128)
    """Hidden units of the MLP across patches and of the MLP across channels."""
    dropout: float = 0.0
    """Dropout rate of the outputs of both MLPs."""
    degrees: float = 10.0
    """Largest rotation in degrees."""
    scaling: float = 0.1
    """Largest relative change of scale."""
    shift: float = 0.07
    """Largest translation, as a fraction of the image size."""
    settings: Settings = Settings(
        epochs=10,
        optimizer="adamw",
        schedule="one-cycle",
        learning_rate=4e-3,
        weight_decay=0.05,
        clip_norm=1.0,
    )

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        channels, height, width = summary.shape
        sizes = self.hidden_size, self.num_layers, self.feedforward_sizes
        return MLPMixer(
            (height, width), self.patch_size, channels, summary.outputs, *sizes, self.dropout
        )

    def augmentation(self) -> Augment:
        return affine(self.degrees, self.scaling, self.shift)

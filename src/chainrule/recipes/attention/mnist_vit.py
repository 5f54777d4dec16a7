"""MNIST by a vision transformer on 49 patches, with affine augmentation.

The network does not know which patches are neighbors; it learns the positions. The digits are
rotated, scaled and translated at random, as for `mnist-cnn`. The run folder shows the attention.
Dosovitskiy et al. (2021), An image is worth 16×16 words. Notes: J 6.6.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import Augment, affine
from chainrule.recipes.families.vit import ViTRecipe
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(ViTRecipe):
    """49 patches of 4 × 4 pixels → 4 blocks of 4 heads, 64 wide → 10 logits."""

    reference: ClassVar[str] = "J 6.6"

    degrees: float = 10.0
    """Largest rotation in degrees."""
    scaling: float = 0.1
    """Largest relative change of scale."""
    shift: float = 0.07
    """Largest translation, as a fraction of the image size."""
    settings: Settings = replace(ViTRecipe.settings, epochs=15, learning_rate=2e-3)

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def augmentation(self) -> Augment:
        return affine(self.degrees, self.scaling, self.shift)

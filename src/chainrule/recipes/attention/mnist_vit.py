"""MNIST by a vision transformer: 49 patches of a moving digit.

No weight knows which patches are neighbors; the positions are learned. Digits are turned, scaled
and shifted a little in every step, as for `mnist-cnn`. The run folder shows where the network
looks. Dosovitskiy et al. (2021), An image is worth 16×16 words. Notes: J 6.6.
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
    """Largest turn."""
    scaling: float = 0.1
    """Largest change of size."""
    shift: float = 0.07
    """Largest shift, as a share of the frame."""
    settings: Settings = replace(ViTRecipe.settings, epochs=15, learning_rate=2e-3)

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def augmentation(self) -> Augment:
        return affine(self.degrees, self.scaling, self.shift)

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
from chainrule.learning.augmentation import affine
from chainrule.learning.tasks import Objective
from chainrule.recipes.families.vit import Looking
from chainrule.runs.recipe import objective_of


@dataclass(frozen=True, kw_only=True)
class Recipe(Looking):
    """49 patches of 4 × 4 pixels → 4 blocks of 4 heads, 64 wide → 10 logits."""

    notes: ClassVar[str] = "J 6.6"

    degrees: float = 10.0
    """Largest turn."""
    scaling: float = 0.1
    """Largest change of size."""
    shift: float = 0.07
    """Largest shift, as a share of the frame."""
    epochs: int = 15
    learning_rate: float = 2e-3

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def objective(self, data: Splits) -> Objective:
        return replace(objective_of(data), augment=affine(self.degrees, self.scaling, self.shift))

"""Fashion-MNIST by a vision transformer on mirrored clothes.

The network of `mnist-vit`. Shifted clothes, which help a convolution, slowed it down in trials. The
best of the authors' table of methods, support vectors, has 89.7 % right. Dosovitskiy et al. (2021);
Xiao, Rasul and Vollgraf (2017), arXiv:1708.07747. Notes: J 6.6.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from chainrule.data import fashion_mnist
from chainrule.data.splits import Splits
from chainrule.learning.augmentation import horizontal_flip
from chainrule.learning.objective import Objective
from chainrule.recipes.base import Published, objective_of
from chainrule.recipes.looking import Looking


@dataclass(frozen=True, kw_only=True)
class Recipe(Looking):
    """49 patches of 4 × 4 pixels → 4 blocks of 4 heads, 64 wide → 10 logits."""

    notes: ClassVar[str] = "J 6.6"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test error", 0.103, "Xiao et al. (2017), support vectors"),
    )

    epochs: int = 10
    learning_rate: float = 1e-3

    def data(self, folder: Path | None) -> Splits:
        return fashion_mnist.load(folder, self.seed)

    def objective(self, data: Splits) -> Objective:
        return replace(objective_of(data), augment=horizontal_flip())

"""MNIST by an MLP with affine augmentation.

The network of `mnist-mlp-dropout` on digits that are rotated, scaled and translated at random.
Notes: L "Tricks of the trade" (data augmentation), J 8.7.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from chainrule.learning.augmentation import Augment, affine
from chainrule.recipes.feedforward import mnist_mlp_dropout
from chainrule.runs.recipe import Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(mnist_mlp_dropout.Recipe):
    """784-256-128-10 with dropout and augmentation."""

    reference: ClassVar[str] = "L 'Tricks of the trade', J 8.7"
    published: ClassVar[tuple[Published, ...]] = ()

    degrees: float = 10.0
    """Largest rotation in degrees."""
    scaling: float = 0.1
    """Largest relative change of scale."""
    shift: float = 0.07
    """Largest translation, as a fraction of the image size."""
    dropout: tuple[float, ...] = (0.1, 0.1)
    settings: Settings = replace(mnist_mlp_dropout.Recipe.settings, epochs=60)

    def augmentation(self) -> Augment:
        return affine(self.degrees, self.scaling, self.shift)

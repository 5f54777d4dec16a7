"""MNIST with digits that are turned, scaled and shifted a little in every step.

The network of `mnist-mlp-dropout`, which never sees the same picture twice.
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
    """784-256-128-10 with dropout, on moving digits."""

    reference: ClassVar[str] = "L 'Tricks of the trade', J 8.7"
    published: ClassVar[tuple[Published, ...]] = ()

    degrees: float = 10.0
    """Largest turn."""
    scaling: float = 0.1
    """Largest change of size."""
    shift: float = 0.07
    """Largest shift, as a share of the frame."""
    dropout: tuple[float, ...] = (0.1, 0.1)
    settings: Settings = replace(mnist_mlp_dropout.Recipe.settings, epochs=60)

    def augmentation(self) -> Augment:
        return affine(self.degrees, self.scaling, self.shift)

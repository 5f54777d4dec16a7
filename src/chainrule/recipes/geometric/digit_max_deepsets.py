"""The largest of a set of handwritten digits, by Deep Sets that never saw so many.

Trained on sets of 1 to 10 images and the largest number on them; tested on sets of 20. A maximum
over the elements takes the place of the sum. Zaheer et al. (2017), Deep Sets. Notes: J 7.2.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.nn.rescaled import Rescaled
from chainrule.recipes.families.digit_sets import OfDigits
from chainrule.runs.recipe import Task


@dataclass(frozen=True, kw_only=True)
class Recipe(OfDigits):
    """A small convolutional network for each digit, the maximum of its shares, a perceptron."""

    notes: ClassVar[str] = "J 7.2"
    target: ClassVar[str] = "maximum"

    hidden: tuple[int, ...] = (64,)
    """Units of the hidden layers behind the maximum."""
    epochs: int = 4
    batch_size: int = 64
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 2e-3
    weight_decay: float = 0.01

    def model(self, task: Task) -> nn.Module:
        answer = Rescaled(MLP(self.features, self.hidden, 1), task.center, task.spread)
        return DeepSets(self.digit_network(), answer, "max")

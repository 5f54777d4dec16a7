"""The sum of a set of handwritten digits, by Deep Sets that never saw so many.

Trained on sets of 1 to 10 images and their sums alone, no digit is ever labeled; tested on sets of
20. φ shares each digit out among 32 kinds, and ρ is linear, what each kind is worth; so what is
learned for one digit holds for any number of them.
Zaheer et al. (2017), Deep Sets, 4.1.2. Notes: J 7.2.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.nn.rescaled import Rescaled
from chainrule.recipes.families.digit_sets import OfDigits
from chainrule.runs.recipe import Task


@dataclass(frozen=True, kw_only=True)
class Recipe(OfDigits):
    """A small convolutional network for each digit, the sum of its shares, a linear answer."""

    notes: ClassVar[str] = "J 7.2"
    target: ClassVar[str] = "sum"

    epochs: int = 10
    batch_size: int = 64
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    learning_rate: float = 2e-3
    weight_decay: float = 0.01

    def model(self, task: Task) -> nn.Module:
        worth = nn.Linear(self.features, 1, bias=False)
        return DeepSets(self.digit_network(), Rescaled(worth, 0.0, task.spread), "sum")

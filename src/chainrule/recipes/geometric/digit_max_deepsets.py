"""The largest digit of a set of images by Deep Sets, tested on larger sets.

Trained on sets of 1 to 10 images labeled with the largest digit, tested on sets of 20. The pooling
is a maximum over the elements. Zaheer et al. (2017), Deep Sets. Notes: J 7.2.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import nn

from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.nn.rescaled import Rescaled
from chainrule.recipes.families.digit_sets import DigitSetRecipe
from chainrule.runs.recipe import DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(DigitSetRecipe):
    """A small convolutional network for each digit, the maximum of its shares, a perceptron."""

    reference: ClassVar[str] = "J 7.2"
    target: ClassVar[str] = "maximum"

    hidden: tuple[int, ...] = (64,)
    """Widths of the hidden layers after the maximum."""
    settings: Settings = replace(DigitSetRecipe.settings, epochs=4)

    def model(self, summary: DataSummary) -> nn.Module:
        answer = Rescaled(
            MLP(self.features, self.hidden, 1), summary.target_mean, summary.target_std
        )
        return DeepSets(self.digit_network(), answer, "max")

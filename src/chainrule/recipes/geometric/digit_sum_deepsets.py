"""The sum of a set of digit images by Deep Sets, tested on larger sets.

Trained on sets of 1 to 10 images labeled with their sum alone, tested on sets of 20. φ assigns each
image to 32 categories by a softmax and ρ is linear, so what is learned about one digit holds for
sets of any size. Zaheer et al. (2017), Deep Sets, 4.1.2. Notes: J 7.2.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import nn

from chainrule.models.geometric.deep_sets import DeepSets
from chainrule.nn.rescaled import Rescaled
from chainrule.recipes.families.digit_sets import DigitSetRecipe
from chainrule.runs.recipe import DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(DigitSetRecipe):
    """A small convolutional network for each digit, the sum of its shares, a linear answer."""

    reference: ClassVar[str] = "J 7.2"
    target: ClassVar[str] = "sum"

    settings: Settings = replace(DigitSetRecipe.settings, epochs=10)

    def model(self, summary: DataSummary) -> nn.Module:
        worth = nn.Linear(self.features, 1, bias=False)
        return DeepSets(self.digit_network(), Rescaled(worth, 0.0, summary.target_std), "sum")

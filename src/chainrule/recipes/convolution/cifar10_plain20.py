"""CIFAR-10 by the plain twin of `cifar10-resnet20`: the same layers without shortcuts.

Data, layers, parameters and settings are those of the residual network, so any difference is due to
the shortcuts. At 20 layers it is small; with `--depth 56` the plain network fits even its training
data worse. He et al. (2016), Deep Residual Learning, figure 6. Notes: A 2.2, J 2.3.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cifar10
from chainrule.models.convolution.plain_network import PlainNetwork
from chainrule.nn.standardized import Standardized
from chainrule.recipes.convolution import cifar10_resnet20
from chainrule.runs.recipe import DataSummary, Published


@dataclass(frozen=True, kw_only=True)
class Recipe(cifar10_resnet20.Recipe):
    """20 layers, one after the other."""

    reference: ClassVar[str] = "A 2.2, J 2.3"
    published: ClassVar[tuple[Published, ...]] = ()

    def model(self, summary: DataSummary) -> nn.Module:
        network = PlainNetwork(self.depth, summary.outputs, summary.shape[0])
        return Standardized(network, cifar10.MEAN, cifar10.SPREAD)

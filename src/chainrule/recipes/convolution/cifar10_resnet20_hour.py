"""CIFAR-10 by a residual network of 20 layers, in an hour instead of 45 minutes of one core.

`cifar10-resnet20` with more than twice the epochs: bfloat16 products, where the processor has them,
make up for most of the time. The paper needs 160 epochs for its 8.75 %.
He et al. (2016), Deep Residual Learning; Smith and Topin (2018), Super-Convergence.
Notes: J 2.3, A 2.2.
"""

from dataclasses import dataclass, replace

from chainrule.recipes.convolution import cifar10_resnet20
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(cifar10_resnet20.Recipe):
    """3 × 3 blocks of 16, 32 and 64 channels, 48 epochs."""

    settings: Settings = replace(
        cifar10_resnet20.Recipe.settings, epochs=48, weight_decay=5e-4, precision="auto"
    )

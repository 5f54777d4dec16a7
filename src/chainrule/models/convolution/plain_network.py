"""Plain network: ResNet's convolutions without its shortcuts.

    h_{l+1} = φ(N(w_l ∗ h_l)),    f(x) = W mean_{ij} h_L + b

Layer for layer the residual network of 6n + 2 layers, with the same parameters under the same
names, but nothing is added back. Deep ones fit even their training data worse than shallow ones.

He, Zhang, Ren and Sun (2016), CVPR, section 4.2. Notes: J 2.3, A 2.2.
"""

import torch
from torch import Tensor, nn

from chainrule.models.convolution.resnet import (
    BasicBlock,
    ResNet,
    cifar_blocks,
    convolution,
    no_shortcut,
)


class PlainNetwork(ResNet):
    """The twin of `ResNet.cifar(depth, classes, channels)`."""

    def __init__(self, depth: int, classes: int, channels: int = 3):
        stem, blocks = convolution(channels, 16, kernel=3), cifar_blocks(depth)
        super().__init__(stem, nn.Identity(), BasicBlock, blocks, classes, no_shortcut)


def example() -> tuple[PlainNetwork, Tensor]:
    """Twenty layers, and two small color images."""
    return PlainNetwork(20, classes=10), torch.randn(2, 3, 32, 32)

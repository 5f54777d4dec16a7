"""Plain network: ResNet's convolutions without its shortcuts.

    h_{l+1} = φ(N(w_l ∗ h_l)),    f(x) = W mean_{ij} h_L + b

Layer for layer the residual network of 6n + 2 layers, with the same parameters under the same
names, but without the shortcuts. Deep ones fit even their training data worse than shallow ones.

He, Zhang, Ren and Sun (2016), CVPR, section 4.2. Notes: J 2.3, A 2.2.
"""

import torch
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.convolution.resnet import (
    BasicBlock,
    ResNet,
    cifar_blocks,
    convolution,
    no_shortcut,
)


@checked
class PlainNetwork(ResNet):
    """`ResNet.cifar` without its shortcuts.

        h_{l+1} = φ(N(w_l ∗ h_l)),     f(x) = W mean_{ij} h_L + b

    Args:
        depth: Number of layers, 6n + 2.
        classes: Number of outputs.
        channels: Channels of an image.

    Example:
        >>> import torch
        >>> PlainNetwork(20, classes=10)(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 10])
    """

    def __init__(self, depth: Count, classes: Count, channels: Count = 3):
        stem, blocks = convolution(channels, 16, kernel=3), cifar_blocks(depth)
        super().__init__(stem, nn.Identity(), BasicBlock, blocks, classes, no_shortcut)


def example() -> tuple[PlainNetwork, Tensor]:
    """Twenty layers, and two small color images."""
    return PlainNetwork(20, classes=10), torch.randn(2, 3, 32, 32)

"""VGG: stages of 3×3 convolutions that double their filters, then three dense layers.

    64, 128, 256, 512, 512 filters; after each of the five stages half the height and width
    h ← φ(w ∗ h + b),     f(x) = W_3 φ(W_2 φ(W_1 h + b_1) + b_2) + b_3      4096, 4096, 1000 units

    layers   convolutions of the stages   parameters
    11       1, 1, 2, 2, 2                132,863,336
    13       2, 2, 2, 2, 2                133,047,848
    16       2, 2, 3, 3, 3                138,357,544
    19       2, 2, 4, 4, 4                143,667,240

Two 3×3 kernels see the 5×5 pixels of one larger kernel, with 18 weights instead of 25 and one more
nonlinearity. Nine tenths of the parameters of the 16-layer network are in its dense layers.

Simonyan and Zisserman (2015), ICLR, table 1. Notes: A 2.2.2, where it stands beside ResNet-34.
"""

import torch
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.models.convolution.cnn import CNN

DEPTHS: dict[int, tuple[int, ...]] = {
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}
"""Layers with weights ↦ convolutions of each stage; three dense layers follow."""
WIDEST = 8  # times the first stage's filters: the last two stages are equally wide
DROPOUT = 0.5


@checked
class VGG(CNN):
    """The network of 11, 13, 16 or 19 layers; its stages are those of `CNN`.

        h ← φ(w ∗ h + b),     h_ij ← max_{a, b < 2} h_{2i+a, 2j+b},     f(x) = MLP(h)

    Args:
        depth: Number of layers with weights.
        inputs: Shape (channels, height, width) of an image, at least 32×32.
        classes: Number of outputs.
        base_channels: Filters of the first stage.
        hidden_size: Units of each of the two hidden dense layers.

    Example:
        >>> import torch
        >>> model = VGG(11, (3, 32, 32), 10, base_channels=8, hidden_size=64)
        >>> model(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        depth: Count,
        inputs: tuple[Count, Count, Count] = (3, 224, 224),
        classes: Count = 1000,
        base_channels: Count = 64,
        hidden_size: Count = 4096,
    ):
        if depth not in DEPTHS:
            raise InputError(f"depth must be 11, 13, 16 or 19, got {depth}")
        stages, hidden = vgg_stages(depth, base_channels), (hidden_size,) * 2
        dropout = (0.0,) * len(stages) + (DROPOUT,) * len(hidden)
        super().__init__(inputs, stages, classes, hidden, dropout=dropout)


def vgg_stages(depth: int, base_channels: int = 64) -> list[tuple[int, ...]]:
    """The filters of each convolution: doubled from stage to stage, up to eight times the first."""
    widths = [base_channels * min(2**place, WIDEST) for place in range(len(DEPTHS[depth]))]
    return [(width,) * number for width, number in zip(widths, DEPTHS[depth], strict=True)]


def example() -> tuple[VGG, Tensor]:
    """Eleven narrow layers, and two small color images."""
    model = VGG(11, (3, 32, 32), 10, base_channels=4, hidden_size=32)
    return model, torch.randn(2, 3, 32, 32)

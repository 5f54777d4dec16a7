"""DenseNet: every convolution of a block takes the outputs of all earlier ones.

    h_{l+1} = (h_l, H_l(h_l))                k new channels each: k is the growth rate
    H(h)    = w ∗ φ(N(h))                    3×3
    H(h)    = w_2 ∗ φ(N(w_1 ∗ φ(N(h))))      1×1 to 4k channels, then 3×3: bottleneck (B)
    T(h)    = mean_{2×2} (w ∗ φ(N(h)))       between blocks, 1×1 to θ times the channels (C)
    f(x)    = W mean_{ij} φ(N(h_L)) + b

φ is the ReLU, N batch normalization. Features are reused, not relearned, so few channels suffice.
`DenseNet.cifar` is the paper's network of 3n + 4 layers for small images; `bc` adds bottlenecks and
θ = ½.

Huang, Liu, van der Maaten and Weinberger (2017), CVPR. Notes: J 2.3.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Finite, Natural, checked
from chainrule.errors import InputError
from chainrule.nn.initialization import initialize


@checked
class DenseNet(nn.Module):
    """Blocks of densely connected convolutions, with transitions between them.

        h_{l+1} = (h_l, w ∗ φ(N(h_l))),     f(x) = W mean_{ij} φ(N(h_L)) + b

    Args:
        growth_rate: k, the channels that each layer adds.
        layers: Layers of each block.
        classes: Number of outputs.
        channels: Channels of an image.
        bottleneck: Channels of the 1×1 convolutions in units of k; 0 for none.
        compression: θ, the share of the channels that a transition keeps.

    Example:
        >>> import torch
        >>> model = DenseNet(12, (2, 2), classes=10, bottleneck=4, compression=0.5)
        >>> model(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        growth_rate: Count,
        layers: Sequence[Count],
        classes: Count,
        channels: Count = 3,
        bottleneck: Natural = 0,
        compression: Finite = 1.0,
    ):
        super().__init__()
        if not 0 < compression <= 1:
            raise InputError(f"compression must be above 0 and at most 1, got {compression}")
        width = 2 * growth_rate if bottleneck else 16
        self.stem = convolution(channels, width, kernel=3)
        self.stages = nn.ModuleList()
        for place, depth in enumerate(layers):
            stage = nn.Sequential()
            if place:
                stage.append(Transition(width, int(compression * width)))
                width = int(compression * width)
            for _ in range(depth):
                stage.append(DenseLayer(width, growth_rate, bottleneck * growth_rate))
                width += growth_rate
            self.stages.append(stage)
        self.norm = nn.BatchNorm2d(width)
        self.output = initialize(nn.Linear(width, classes), "lecun")

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        h = self.stem(x)
        for stage in self.stages:
            h = stage(h)
        return self.output(F.relu(self.norm(h), inplace=True).mean((2, 3)))

    @staticmethod
    def cifar(
        depth: int, classes: int, growth_rate: int = 12, channels: int = 3, bc: bool = False
    ) -> "DenseNet":
        """Three blocks of n layers, or with `bc` of n/2 bottlenecks: depth = 3n + 4."""
        step = 6 if bc else 3
        if depth < step + 4 or (depth - 4) % step:
            raise InputError(f"depth must be {step}n + 4, such as 40 or 100, got {depth}")
        layers = [(depth - 4) // step] * 3
        if bc:
            return DenseNet(growth_rate, layers, classes, channels, bottleneck=4, compression=0.5)
        return DenseNet(growth_rate, layers, classes, channels)


@checked
class DenseLayer(nn.Module):
    """h ↦ (h, H(h)), with a bottleneck of `between` channels unless that is 0."""

    def __init__(self, inputs: Count, growth_rate: Count, between: Natural):
        super().__init__()
        self.narrow = PreActivation(inputs, between, kernel=1) if between else nn.Identity()
        self.grow = PreActivation(between or inputs, growth_rate, kernel=3)

    def forward(self, h: Tensor) -> Tensor:
        return torch.cat([h, self.grow(self.narrow(h))], dim=1)


@checked
class Transition(nn.Module):
    """T(h) = mean_{2×2} (w ∗ φ(N(h)))."""

    def __init__(self, inputs: Count, outputs: Count):
        super().__init__()
        self.narrow = PreActivation(inputs, outputs, kernel=1)

    def forward(self, h: Tensor) -> Tensor:
        return F.avg_pool2d(self.narrow(h), 2)


@checked
class PreActivation(nn.Module):
    """w ∗ φ(N(h))."""

    def __init__(self, inputs: Count, outputs: Count, kernel: Count):
        super().__init__()
        self.norm = nn.BatchNorm2d(inputs)
        self.conv = convolution(inputs, outputs, kernel)

    def forward(self, h: Tensor) -> Tensor:
        return self.conv(F.relu(self.norm(h), inplace=True))


def convolution(inputs: int, outputs: int, kernel: int) -> nn.Conv2d:
    """w ∗ h of the same height and width."""
    layer = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
    return initialize(layer, "kaiming")


def example() -> tuple[DenseNet, Tensor]:
    """Two blocks of two bottlenecks, and three small color images."""
    model = DenseNet(4, (2, 2), classes=3, bottleneck=4, compression=0.5)
    return model, torch.randn(3, 3, 8, 8)

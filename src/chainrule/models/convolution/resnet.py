"""ResNet: blocks of convolutions that learn what to add to their input.

    h_{l+1} = φ(S h_l + F_l(h_l)),   S = Id, or a map to the new shape where the shape changes
    basic        F(h) = N(w_2 ∗ φ(N(w_1 ∗ h)))               3×3, 3×3
    bottleneck   F(h) = N(w_3 ∗ φ(N(w_2 ∗ φ(N(w_1 ∗ h)))))   1×1, 3×3, 1×1 to four times the width
    f(x) = W mean_{ij} h_L + b

φ is the ReLU, N batch normalization, which takes the place of the biases. `ResNet.cifar` has
6n + 2 layers, 16, 32 and 64 filters, and shortcuts without parameters; `ResNet.imagenet` is the
18-, 34- or 50-layer network under torchvision's names, its bottlenecks striding in their 3×3, so
that `chainrule.pretrained.load` reads torchvision's weights.

He, Zhang, Ren and Sun (2016), CVPR; He et al. (2015), ICCV, for the initial weights.
Notes: J 2.3, A 2.2.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.nn.initialization import initialize

Shortcut = Callable[[int, int, int], nn.Module | None]
"""(channels in, channels out, stride) → S, or None for no shortcut."""


@checked
class ResNet(nn.Module):
    """A stem, stages of residual blocks, global average pooling and an affine map.

        h_{l+1} = φ(S h_l + F_l(h_l)),     f(x) = W mean_{ij} h_L + b

    Each stage but the first halves the image and doubles the channels. `ResNet.cifar` and
    `ResNet.imagenet` build the networks of the paper.

    Args:
        stem: The first convolution.
        pool: Applied after the stem; `nn.Identity()` for none.
        block: `BasicBlock` or `Bottleneck`.
        blocks: Number of blocks in each stage.
        classes: Number of outputs.
        shortcut: Builds S: (channels in, channels out, stride) → module, or None for no shortcut.

    Example:
        >>> import torch
        >>> model = ResNet.cifar(20, classes=10)
        >>> model(torch.zeros(2, 3, 32, 32)).shape
        torch.Size([2, 10])
    """

    def __init__(
        self,
        stem: nn.Conv2d,
        pool: nn.Module,
        block: "type[BasicBlock | Bottleneck]",
        blocks: Sequence[Count],
        classes: Count,
        shortcut: Shortcut,
    ):
        super().__init__()
        self.conv1, self.bn1, self.maxpool = stem, nn.BatchNorm2d(stem.out_channels), pool
        channels = stem.out_channels
        self.stages = [f"layer{number + 1}" for number in range(len(blocks))]
        for place, (name, depth) in enumerate(zip(self.stages, blocks, strict=True)):
            width, layers = stem.out_channels * 2**place, []
            for number in range(depth):
                stride = 2 if place > 0 and number == 0 else 1
                S = shortcut(channels, width * block.expansion, stride)
                layers.append(block(channels, width, stride, S))
                channels = width * block.expansion
            self.add_module(name, nn.Sequential(*layers))
        self.fc = initialize(nn.Linear(channels, classes), "lecun")

    def forward(
        self, x: Float[Tensor, "batch channels height width"]
    ) -> Float[Tensor, "batch classes"]:
        h = self.maxpool(F.relu(self.bn1(self.conv1(x)), inplace=True))
        for stage in self.stages:
            h = self.get_submodule(stage)(h)
        return self.fc(h.mean((2, 3)))

    @staticmethod
    def cifar(depth: int, classes: int, channels: int = 3, shortcuts: bool = True) -> "ResNet":
        """The network of depth 6n + 2 for small images; without `shortcuts`, the plain network."""
        stem = convolution(channels, 16, kernel=3)
        shortcut = padded_shortcut if shortcuts else no_shortcut
        return ResNet(stem, nn.Identity(), BasicBlock, cifar_blocks(depth), classes, shortcut)

    @staticmethod
    def imagenet(depth: int, classes: int = 1000) -> "ResNet":
        """The network of depth 18, 34 or 50 for color images of about 224×224."""
        if depth not in IMAGENET:
            raise InputError(f"depth must be 18, 34 or 50, got {depth}")
        block, blocks = IMAGENET[depth]
        stem, pool = convolution(3, 64, kernel=7, stride=2), nn.MaxPool2d(3, stride=2, padding=1)
        return ResNet(stem, pool, block, blocks, classes, projection_shortcut)


@checked
class BasicBlock(nn.Module):
    """φ(S h + N(w_2 ∗ φ(N(w_1 ∗ h))))."""

    expansion = 1

    def __init__(self, inputs: Count, width: Count, stride: Count, shortcut: nn.Module | None):
        super().__init__()
        self.conv1 = convolution(inputs, width, kernel=3, stride=stride)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width, kernel=3)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = shortcut

    def forward(self, h: Tensor) -> Tensor:
        f = F.relu(self.bn1(self.conv1(h)), inplace=True)
        return add_shortcut(self.bn2(self.conv2(f)), h, self.downsample)


@checked
class Bottleneck(nn.Module):
    """φ(S h + N(w_3 ∗ φ(N(w_2 ∗ φ(N(w_1 ∗ h))))))."""

    expansion = 4

    def __init__(self, inputs: Count, width: Count, stride: Count, shortcut: nn.Module | None):
        super().__init__()
        self.conv1 = convolution(inputs, width, kernel=1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = convolution(width, width, kernel=3, stride=stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = convolution(width, width * self.expansion, kernel=1)
        self.bn3 = nn.BatchNorm2d(width * self.expansion)
        self.downsample = shortcut

    def forward(self, h: Tensor) -> Tensor:
        f = F.relu(self.bn1(self.conv1(h)), inplace=True)
        f = F.relu(self.bn2(self.conv2(f)), inplace=True)
        return add_shortcut(self.bn3(self.conv3(f)), h, self.downsample)


IMAGENET: dict[int, tuple[type[BasicBlock | Bottleneck], tuple[int, ...]]] = {
    18: (BasicBlock, (2, 2, 2, 2)),
    34: (BasicBlock, (3, 4, 6, 3)),
    50: (Bottleneck, (3, 4, 6, 3)),
}


@checked
class Subsampled(nn.Module):
    """S h: every second pixel, and zeros in the new channels (option A of the paper)."""

    def __init__(self, stride: Count, new: Count):
        super().__init__()
        self.stride, self.new = stride, new

    def forward(self, h: Tensor) -> Tensor:
        return F.pad(h[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.new))


def add_shortcut(f: Tensor, h: Tensor, shortcut: nn.Module | None) -> Tensor:
    """φ(S h + f), or φ(f) without a shortcut."""
    if shortcut is not None:
        f = f + shortcut(h)
    return F.relu(f, inplace=True)


def padded_shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    """The shortcut without parameters."""
    same = stride == 1 and inputs == outputs
    return nn.Identity() if same else Subsampled(stride, outputs - inputs)


def projection_shortcut(inputs: int, outputs: int, stride: int) -> nn.Module:
    """The identity, and N(w ∗ h) with a 1×1 kernel where the shape changes (option B)."""
    if stride == 1 and inputs == outputs:
        return nn.Identity()
    return nn.Sequential(
        convolution(inputs, outputs, kernel=1, stride=stride), nn.BatchNorm2d(outputs)
    )


def no_shortcut(inputs: int, outputs: int, stride: int) -> None:
    """No shortcut: a plain network."""


def convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Conv2d:
    """w ∗ h of the same size, divided by the stride; without bias, as a norm follows."""
    layer = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    return initialize(layer, "kaiming")


def cifar_blocks(depth: int) -> tuple[int, int, int]:
    """n blocks of two layers in each of three stages: 6n + 2 layers with stem and output."""
    if depth < 8 or (depth - 2) % 6:
        raise InputError(f"depth must be 6n + 2, such as 20, 32, 44, 56 or 110, got {depth}")
    n = (depth - 2) // 6
    return n, n, n


def example() -> tuple[ResNet, Tensor]:
    """ResNet-20, and two small color images."""
    return ResNet.cifar(20, classes=10), torch.randn(2, 3, 32, 32)

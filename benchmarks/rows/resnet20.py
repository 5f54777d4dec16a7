"""ResNet-20 on images of 3 × 32 × 32, batch 128, Adam."""

from itertools import pairwise
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import images

WIDTHS = (16, 16, 32, 64)  # of the stem and the three stages


def build(count: int, learned: int, batch: int) -> Classifier:
    return Classifier(
        images(learned, (3, 32, 32), noise=2.0),
        count,
        ours,
        plain,
        keras,
        batch,
        studied=batch // 2,
    )


def ours() -> nn.Module:
    from chainrule.models.convolution.resnet import ResNet

    return ResNet.cifar(20, 10)


class Block(nn.Module):
    """A residual block as PyTorch's examples write it, with the shortcut without parameters."""

    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.stride, self.new = stride, outputs - inputs

    def forward(self, x: Tensor) -> Tensor:
        f = self.body(x)
        if self.new:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.new))
        return F.relu(f + x, inplace=True)


def plain() -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16)]
    layers += [nn.ReLU(inplace=True)]
    for inputs, width in pairwise(WIDTHS):
        layers.append(Block(inputs, width, width // inputs))
        layers += [Block(width, width, 1) for _ in range(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def keras() -> Any:
    from keras import Model, layers, ops

    def convolved(h: Any, width: int, stride: int = 1) -> Any:
        h = (
            layers.Conv2D(width, 3, 1, padding="same", use_bias=False)(h)
            if stride == 1
            else (layers.Conv2D(width, 3, stride, use_bias=False)(layers.ZeroPadding2D(1)(h)))
        )
        return layers.BatchNormalization(momentum=0.9, epsilon=1e-5)(h)

    x = layers.Input((32, 32, 3))
    h = layers.ReLU()(convolved(x, 16))
    for inputs, width in pairwise(WIDTHS):
        for number in range(3):
            stride = width // inputs if number == 0 else 1
            f = convolved(layers.ReLU()(convolved(h, width, stride)), width)
            if stride > 1:
                h = ops.pad(h[:, ::stride, ::stride], [(0, 0)] * 3 + [(0, width - inputs)])
            h = layers.ReLU()(layers.Add()([f, h]))
    return Model(x, layers.Dense(10)(layers.GlobalAveragePooling2D()(h)))


ROW = Race(
    unit="256 images",
    contenders=classifiers.contenders(build),
    cases={"": {"count": 256, "learned": 512, "batch": 128}},
    tiny={"count": 8, "learned": 16, "batch": 8},
    quality=Quality("cross-entropy of held images after 8 steps, three seeds", 0.2, seeds=3),
    work=classifiers.work(build),
)

"""DenseNet-40 with a growth rate of 12 on images of 3 × 32 × 32, batch 64, Adam."""

import torch
from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import images

GROWTH = 12


class Layer(nn.Module):
    """As torchvision writes a layer without bottleneck."""

    def __init__(self, inputs: int):
        super().__init__()
        self.norm, self.relu = nn.BatchNorm2d(inputs), nn.ReLU(inplace=True)
        self.conv = nn.Conv2d(inputs, GROWTH, 3, padding=1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.conv(self.relu(self.norm(x)))], 1)


def build(count: int, learned: int, batch: int, depth: int) -> Classifier:
    data = images(learned, (3, 32, 32), noise=2.0)
    return Classifier(
        data, count, lambda: ours(depth), lambda: plain(depth), None, batch, studied=batch // 4
    )


def ours(depth: int) -> nn.Module:
    from chainrule.models.convolution.densenet import DenseNet

    return DenseNet.cifar(depth, 10, GROWTH)


def plain(depth: int) -> nn.Module:
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1, bias=False)]
    width = 16
    for place in range(3):
        if place:
            layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            layers += [nn.Conv2d(width, width, 1, bias=False), nn.AvgPool2d(2)]
        for _ in range((depth - 4) // 3):
            layers.append(Layer(width))
            width += GROWTH
    layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(width, 10))


ROW = Race(
    unit="64 images",
    contenders=classifiers.contenders(build, without=("Keras",)),
    cases={"": {"count": 64, "learned": 128, "batch": 64, "depth": 40}},
    tiny={"count": 8, "learned": 8, "batch": 8, "depth": 7},
    quality=Quality("cross-entropy of held images after 8 steps, three seeds", 0.1, seeds=3),
    work=classifiers.work(build),
)

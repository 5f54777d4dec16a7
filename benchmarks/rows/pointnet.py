"""PointNet on clouds of 256 points in space, 1,024 global features, both T-nets, batch 32, Adam.

The plain network has no penalty on its second T-net, which takes products of 64 × 64 numbers.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from benchmarks.rows.deep_sets import clouds
from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race


def shared(*sizes: int) -> nn.Sequential:
    """One map of all points, and of each layer's rows."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        linear = nn.Linear(inputs, outputs, bias=False)
        parts += [linear, nn.BatchNorm1d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


def of_points(network: nn.Module, x: Tensor) -> Tensor:
    return network(x.flatten(0, 1)).unflatten(0, x.shape[:2])


class Alignment(nn.Module):
    """A T-net: I + ρ(max F(x))."""

    def __init__(self, inputs: int, features: int):
        super().__init__()
        self.inputs, self.points = inputs, shared(inputs, 64, 128, features)
        self.rest = shared(features, 512, 256)
        self.last = nn.Linear(256, inputs * inputs)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor) -> Tensor:
        found = self.last(self.rest(of_points(self.points, x).amax(1)))
        return torch.eye(self.inputs) + found.view(-1, self.inputs, self.inputs)


class Plain(nn.Module):
    """As implementations of the paper write it."""

    def __init__(self, features: int):
        super().__init__()
        self.align = Alignment(3, features)
        self.first = shared(3, 64, 64)
        self.align_features = Alignment(64, features)
        self.second = shared(64, 64, 128, features)
        self.rest = shared(features, 512, 256)
        self.last = nn.Linear(256, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = of_points(self.first, x @ self.align(x))
        x = of_points(self.second, x @ self.align_features(x))
        return self.last(self.rest(x.amax(1)))


def build(count: int, learned: int, batch: int, points: int, features: int) -> Classifier:
    def ours() -> nn.Module:
        from chainrule.models.geometric.pointnet import PointNet

        return PointNet(3, num_classes=10, features=features, dropout=0.0)

    def plain() -> nn.Module:
        return Plain(features)

    return Classifier(clouds(learned, points), count, ours, plain, batch=batch)


ROW = Race(
    unit="320 clouds",
    contenders=classifiers.contenders(build, without=("Keras",)),
    cases={"": {"count": 320, "learned": 640, "batch": 32, "points": 256, "features": 1024}},
    tiny={"count": 8, "learned": 8, "batch": 4, "points": 5, "features": 8},
    quality=Quality("cross-entropy of held clouds after 640, three seeds", 0.1, seeds=3),
    work=classifiers.work(build),
)

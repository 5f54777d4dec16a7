"""Deep Sets on clouds of 256 points in space: φ 3-64-128, a sum, ρ 128-64-10, batch 64, Adam."""

import torch
from torch import Tensor, nn

from benchmarks.suite import classifiers
from benchmarks.suite.classifiers import Classifier
from benchmarks.suite.contract import Quality, Race
from benchmarks.suite.synthetic import HELD, Labeled


class Plain(nn.Module):
    """ρ(Σ φ(x))."""

    def __init__(self) -> None:
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 128))
        self.rho = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x: Tensor) -> Tensor:
        return self.rho(self.phi(x).sum(1))


def ours() -> nn.Module:
    from chainrule.models.feedforward.mlp import MLP
    from chainrule.models.geometric.deep_sets import DeepSets

    return DeepSets(MLP(3, [64], 128), MLP(128, [64], 10))


def clouds(count: int, points: int) -> Labeled:
    """Ellipsoids of ten shapes, scaled so that a sum over points stays small."""
    generator = torch.Generator().manual_seed(0)
    axes = 0.3 + torch.rand(10, 3, generator=generator)
    total = count + min(count, HELD)
    y = torch.randint(10, (total,), generator=generator)
    x = torch.randn(total, points, 3, generator=generator) * axes[y][:, None] / points**0.5
    return Labeled(x[:count], y[:count], x[count:], y[count:])


def build(count: int, learned: int, batch: int, points: int) -> Classifier:
    return Classifier(clouds(learned, points), count, ours, Plain, batch=batch)


ROW = Race(
    unit="1,280 clouds",
    contenders=classifiers.contenders(build, without=("Keras",)),
    cases={"": {"count": 1280, "learned": 1280, "batch": 64, "points": 256}},
    tiny={"count": 8, "learned": 8, "batch": 4, "points": 5},
    quality=Quality("cross-entropy of held clouds after 1,280, three seeds", 0.1, seeds=3),
    work=classifiers.work(build),
)

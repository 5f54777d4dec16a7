"""Claim: a few critical points determine PointNet's output; the others can be removed (J 7.3).

    g_c(x) = max_p h_c(x_p) = h_c(x_{p(c)})      ⇒      g(x) = g({x_{p(1)}, …, x_{p(C)}})

Measured: over clouds on solids, the largest relative change of the global features when all points
are removed that attain no maximum, neither in the T-nets nor at the end, in double precision.
Bound: 1e-12: a maximum over fewer points is the same number, but matrix products may round
differently by row. With C units in each of the three maxima at most 3 C points are critical, and
every point must be among them whose removal alone changes a transformation or a feature.
Qi et al. (2017), theorem 2.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.cloud import clouds, turning
from chainrule.models.geometric.pointnet import PointFeatures

ROUNDING, VISIBLE = 1e-12, 1e-10
SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05)


def check(points: int = 128, features: int = 32, seed: int = 0) -> Verdict:
    """All critical points are kept.

    Args:
        points: Points per cloud.
        features: Global features C.
    """
    return verdict(points, features, seed, lambda critical: critical)


def broken() -> Verdict:
    """Half of the critical points are removed too."""
    return verdict(128, 32, 0, lambda critical: critical & (critical.cumsum(1) % 2 == 0))


def near() -> Near:
    """One critical point too few in each cloud."""

    def without_last(critical: Tensor) -> Tensor:
        return critical & (critical.cumsum(1) < critical.sum(1, keepdim=True))

    def without_one(critical: Tensor) -> Tensor:
        return critical & (critical.cumsum(1) != critical.sum(1, keepdim=True) // 2)

    return {
        "the last critical point removed": lambda: verdict(96, 16, 0, without_last),
        "one in the middle removed": lambda: verdict(96, 16, 0, without_one),
    }


@torch.no_grad()
def verdict(points: int, features: int, seed: int, called: Callable[[Tensor], Tensor]) -> Verdict:
    """Global features of parts of the clouds."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = PointFeatures(3, 3, features)
        turning(net)
        lots = torch.rand(4, points)
    x = clouds(4, points, seed)
    critical = called(net.critical_points(x))
    worst, missed, last, random = 0.0, 0, [], []
    for cloud, deciding, lot in zip(x, critical, lots, strict=True):
        worst = max(worst, change(net, cloud, deciding.nonzero()[:, 0]))
        missed += int((decisive(net, cloud) & ~deciding).sum())
        by_weight, by_lot = (lot + deciding).argsort(descending=True), lot.argsort()
        last.append([change(net, cloud, by_weight[: round(s * points)]) for s in SHARES])
        random.append([change(net, cloud, by_lot[: round(s * points)]) for s in SHARES])
    share = critical.double().mean(1).max().item()
    percent = [100 * s for s in SHARES]
    return Verdict(
        quantity="largest relative change of the global features",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={
            "no other point alone matters": missed == 0,
            "at most 3 C points are critical": share * points <= 3 * features,
        },
        picture=Picture(
            title="Most points can be removed; the critical ones determine the features",
            x_label="points kept, %",
            y_label="relative change of the global features",
            points={
                "removed at random": (percent, torch.tensor(random).mean(0).tolist()),
                "critical points removed last": (percent, torch.tensor(last).mean(0).tolist()),
            },
            marks={"critical points": 100 * share},
        ),
        details={
            "largest share of critical points": share,
            "critical points": critical.sum(1).max().item(),
        },
    )


def decisive(net: PointFeatures, cloud: Tensor) -> Tensor:
    """True for each point whose removal alone changes a transformation or a global feature."""
    points = len(cloud)
    others = torch.arange(points).repeat(points, 1)[~torch.eye(points, dtype=torch.bool)]
    parts = cloud[others.view(points, points - 1)]
    found, whole = net(parts), net(cloud[None])
    changes = [
        (getattr(found, name) - getattr(whole, name)).abs().flatten(1).amax(1)
        for name in ("A_1", "A_2", "global_features")
    ]
    return torch.stack(changes).amax(0) > VISIBLE


def change(net: PointFeatures, cloud: Tensor, kept: Tensor) -> float:
    """‖g(part) - g(all)‖ / ‖g(all)‖."""
    whole = net(cloud[None]).global_features
    return ((net(cloud[None, kept]).global_features - whole).norm() / whole.norm()).item()

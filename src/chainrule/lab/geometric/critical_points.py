"""Claim: a few critical points determine PointNet's output; the others can be removed (J 7.3).

    g_c(x) = max_p h_c(x_p) = h_c(x_{p(c)})      ⇒      g(x) = g({x_{p(1)}, …, x_{p(C)}})

Measured: the largest relative change of the global features when all points are removed that attain
no maximum, neither in the T-nets nor at the end, over clouds on solids, in double precision.
Bound: 1e-12: a maximum over fewer points is the same number, but matrix products may round
differently by row. Not all points may be critical.
Qi et al. (2017), theorem 2.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.lab.helpers.cloud import clouds, turning
from chainrule.models.geometric.pointnet import PointFeatures

ROUNDING = 1e-12
SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1, 0.05)


def check(points: int = 512, features: int = 32, seed: int = 0) -> Verdict:
    """All critical points are kept.

    Args:
        points: Points per cloud.
        features: Global features C.
    """
    return verdict(points, features, seed, spared=0)


def broken() -> Verdict:
    """One critical point is removed too."""
    return verdict(512, 32, 0, spared=1)


@torch.no_grad()
def verdict(points: int, features: int, seed: int, spared: int) -> Verdict:
    """Global features of parts of the clouds."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = PointFeatures(3, 3, features)
        turning(net)
        lots = torch.rand(4, points)
    x = clouds(4, points, seed)
    critical = net.critical_points(x)
    worst, last, random = 0.0, [], []
    for cloud, deciding, lot in zip(x, critical, lots, strict=True):
        chosen = deciding.nonzero()[:, 0]
        worst = max(worst, change(net, cloud, chosen[spared:]))
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
        conditions={"not all points are critical": share < 1},
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
        details={"largest share of critical points": share},
    )


def change(net: PointFeatures, cloud: Tensor, kept: Tensor) -> float:
    """‖g(part) - g(all)‖ / ‖g(all)‖."""
    whole = net(cloud[None]).global_features
    return ((net(cloud[None, kept]).global_features - whole).norm() / whole.norm()).item()

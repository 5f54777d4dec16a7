"""Claim: PointNet does not depend on the order of its points (J 7.3).

    class    f(Px) = f(x)               segmentation    f(Px) = P f(x)

Measured: the largest change of the logits over random orders of clouds on solids, and of the
segmentation's logits of the same points, in double precision, with T-nets that are not the
identity.
Bound: 1e-12: a maximum is exact, but matrix products may round differently by row.
The picture compares a recurrent network that reads the points in order. Qi et al. (2017).
"""

from functools import partial

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.cloud import clouds, turning
from chainrule.models.geometric.pointnet import PointNet
from chainrule.models.geometric.pointnet_segmentation import PointNetSegmentation
from chainrule.models.recurrent.elman import Elman
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier

ROUNDING = 1e-12
CLASSES = 4


def check(points: int = 64, features: int = 128, seed: int = 0) -> Verdict:
    """PointNet.

    Args:
        points: Points per cloud.
        features: Global features.
    """
    return verdict(points, features, seed, in_order=False)


def broken() -> Verdict:
    """A recurrent network in its place."""
    return verdict(64, 128, 0, in_order=True)


def near() -> Near:
    """Points that tell a little of their place in the list."""
    return {
        f"places of size {size}": partial(verdict, 32, 64, 0, in_order=False, size=size)
        for size in (1e-3, 1e-9)
    }


@torch.no_grad()
def verdict(points: int, features: int, seed: int, in_order: bool, size: float = 0.0) -> Verdict:
    """Logits by the number of points that moved."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = turning(PointNet(3, CLASSES, features=features, hidden=(64,)))
        parts = turning(PointNetSegmentation(3, CLASSES, features=features))
        reader = SequenceClassifier(Elman(3, 32), CLASSES).double()
        moved = [2, *(points * k // 8 for k in range(1, 9))]
        orders = torch.stack([reordered(points, number) for number in moved])
    x = clouds(4, points, seed)
    classifier: nn.Module = reader if in_order else net
    places = size * torch.arange(points, dtype=x.dtype)[:, None]
    by_class = changes(classifier, x, orders, places)
    by_part = [
        (parts(x[:, order] + places) - parts(x + places)[:, :, order]).abs().max().item()
        for order in orders
    ]
    worst = max(*by_class, *by_part)
    n = [float(number) for number in moved]
    return Verdict(
        quantity="largest change of a logit",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="PointNet ignores the order of the points",
            x_label="points moved to another position in the list",
            y_label="largest change of a logit",
            points={
                "recurrent network": (n, changes(reader, x, orders, places)),
                "PointNet, class or parts": (
                    n,
                    [max(*pair, 1e-17) for pair in zip(by_class, by_part, strict=True)],
                ),
            },
            bounds={"rounding": ([n[0], n[-1]], [ROUNDING] * 2)},
            log="y",
        ),
    )


def reordered(points: int, number: int) -> Tensor:
    """An order that moves `number` points in a cycle."""
    order, chosen = torch.arange(points), torch.randperm(points)[:number]
    order[chosen] = chosen.roll(1)
    return order


def changes(model: nn.Module, x: Tensor, orders: Tensor, places: Tensor) -> list[float]:
    """The largest change of a logit for each order."""
    whole = model(x + places)
    return [(model(x[:, order] + places) - whole).abs().max().item() for order in orders]

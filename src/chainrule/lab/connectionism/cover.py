"""Claim: s points in general position in ℝⁿ have 2 Σ_{i<n} C(s-1, i) linear labelings (J 1.2).

    C(s, n) = 2 Σ_{i=0}^{n-1} C(s - 1, i),        C(s, n) / 2ˢ = 1 for s ≤ n,  = ½ at s = 2n

Measured: for random points of n = 2 … `dimensions` and s = 1 … `points`, the largest difference
between C(s, n) and the number of labelings for which a linear program finds a hyperplane through
the origin; all 2ˢ are tried.
Bound: exactly 0; Gaussian points are in general position with probability 1. The counted number
must also grow with every point, also past s = 2n, where the counted share falls below ½: the notes
print that the number falls.
The points of the picture are fractions of sampled labelings. Cover (1965).
"""

from itertools import pairwise, product
from math import comb

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.connectionism.perceptron import separating_hyperplane

SAMPLED = (5, 20)  # dimensions of the picture
RATIOS = (1.0, 1.4, 2.0, 2.6, 3.0)  # whole numbers of points for each of them


def check(dimensions: int = 4, points: int = 7, labelings: int = 40, seed: int = 0) -> Verdict:
    """All labelings of few points; for the picture, random labelings of more points.

    Args:
        dimensions: Largest dimension n.
        points: Largest number of points s.
        labelings: Random labelings per point of the picture.
    """
    generator = torch.Generator().manual_seed(seed)
    sets = [
        torch.randn(s, n, generator=generator)
        for n in range(2, dimensions + 1)
        for s in range(1, points + 1)
    ]
    return verdict(sets, labelings, generator)


def broken() -> Verdict:
    """Points on one line through the origin are not in general position."""
    return verdict([torch.arange(1.0, 5)[:, None].expand(4, 3)], 0, torch.Generator())


def near() -> Near:
    """Points that are almost in general position, but for one linear relation."""
    x = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).mul(100).round()
    related = torch.cat([x[:4], x[:1] + x[1:2]])
    planar = torch.cat([x[:, :2], x[:, :1] + x[:, 1:2]], 1)
    return {
        "three points in a plane through 0": lambda: verdict([related], 0, torch.Generator()),
        "all points in a plane through 0": lambda: verdict([planar], 0, torch.Generator()),
    }


def verdict(sets: list[Tensor], labelings: int, generator: torch.Generator) -> Verdict:
    """Counts by linear programs against the formula."""
    numbers = [counted(x) for x in sets]
    worst = max(abs(number - cover(*x.shape)) for number, x in zip(numbers, sets, strict=True))
    return Verdict(
        quantity="|linear labelings counted - C(s, n)|",
        measured=float(worst),
        relation="=",
        bound=0.0,
        conditions=conditions(sets, numbers),
        picture=Picture(
            title="At two points per dimension, half of all labelings are linear",
            x_label="points per dimension, s / n",
            y_label="fraction of labelings that are linear",
            curves={
                f"n = {n}": (
                    [s / n for s in range(n, 3 * n + 1)],
                    [cover(s, n) / 2**s for s in range(n, 3 * n + 1)],
                )
                for n in SAMPLED
            },
            points={
                f"n = {n}": (list(RATIOS), [share(r, n, labelings, generator) for r in RATIOS])
                for n in SAMPLED
                if labelings
            },
            marks={"s = 2n": 2.0},
        ),
        details={"labelings tried": float(sum(2 ** len(x) for x in sets))},
    )


def conditions(sets: list[Tensor], numbers: list[int]) -> dict[str, bool]:
    """How number and share of linear labelings change with s, for points of one dimension."""
    found = list(zip(sets, numbers, strict=True))
    past = [number / 2 ** len(x) for x, number in found if len(x) > 2 * x.shape[1]]
    grows = [
        after > before
        for (x, before), (y, after) in pairwise(found)
        if x.shape[1] == y.shape[1] and len(y) == len(x) + 1
    ]
    return {
        "the number grows with s": all(grows),
        "past 2n the share is below ½": max([0.0, *past]) < 0.5,
    }


def cover(s: int, n: int) -> int:
    """C(s, n)."""
    return 2 * sum(comb(s - 1, i) for i in range(n))


def counted(x: Tensor) -> int:
    """Labelings with a hyperplane; y and -y are linear together, so the first sign is fixed."""
    signs = product([-1.0, 1.0], repeat=len(x) - 1)
    return 2 * sum(linear(x, torch.tensor([1.0, *rest])) for rest in signs)


def share(ratio: float, n: int, labelings: int, generator: torch.Generator) -> float:
    """Fraction of random labelings of random points that are linear."""
    s = round(ratio * n)
    drawn = torch.randn(labelings, s, n + 1, generator=generator)
    return sum(linear(x[:, :n], x[:, n].sign()) for x in drawn) / labelings


def linear(x: Tensor, y: Tensor) -> bool:
    return separating_hyperplane(x, y, bias=False) is not None

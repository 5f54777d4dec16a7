"""The distance of two functions in the uniform norm, on a box.

    d_K(f, g) = sup_{x ∈ K} |f(x) - g(x)|,     K = [low_1, high_1] × … × [low_n, high_n]

A grid finds the highest peaks of |f - g|; around each of them smaller and smaller grids climb to
its top. The value is one that |f - g| takes, so it never exceeds the supremum; a peak that is
narrower than the grid may be missed.

Notes: J 2.4, definitions 2.1 to 2.3.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Count, Natural, checked
from chainrule.errors import InputError

PEAKS = 16  # climbed from
LARGEST = 10**7  # points of a grid


@torch.no_grad()
@checked
def sup_distance(
    f: Callable[[Tensor], Tensor],
    g: Callable[[Tensor], Tensor],
    low: Float[Tensor, " n"],
    high: Float[Tensor, " n"],
    points: Count = 101,
    refinements: Natural = 25,
) -> float:
    """max |f - g| over a grid of the box, refined around its highest peaks.

    Args:
        f: Maps a batch of points, one per row, to one value each.
        g: Another such function.
        low: Lower corner of the box.
        high: Upper corner.
        points: Points of the grid along each side, at least two.
        refinements: How often the grid around each peak is halved.

    Example:
        >>> import torch
        >>> zero, one = torch.zeros(1).double(), torch.ones(1).double()
        >>> round(sup_distance(lambda x: x.square(), lambda x: x, zero, one), 6)
        0.25
    """
    if len(low) != len(high) or not (low < high).all() or points < 2:
        raise InputError(
            "`low` and `high` must be corners of one box, low < high, and `points` at least 2; got "
            f"{low.tolist()}, {high.tolist()} and {points}"
        )
    if points ** len(low) > LARGEST:
        raise InputError(
            f"a grid of {points} points along each of {len(low)} sides is too large; "
            f"use fewer `points`, at most {int(LARGEST ** (1 / len(low)))}"
        )
    cell = (high - low) / (points - 1)
    x = low + cell * lattice(len(low), points).to(low)
    height = _gap(f, g, x)
    x, best = x[height.topk(min(PEAKS, len(x))).indices], height.max()
    around = lattice(len(low), 5).to(low) / 2 - 1
    for _ in range(refinements):
        near = (x[:, None] + cell * around).clamp(low, high)
        height = _gap(f, g, near.flatten(0, 1)).view(len(x), -1)
        x, best = near[torch.arange(len(x)), height.argmax(1)], torch.maximum(best, height.max())
        cell = cell / 2
    return best.item()


def lattice(dimensions: int, points: int) -> Tensor:
    """All points of {0, …, points - 1}ⁿ, one per row."""
    return torch.cartesian_prod(*[torch.arange(points)] * dimensions).view(-1, dimensions)


def _gap(f: Callable[[Tensor], Tensor], g: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """|f(x) - g(x)|; not a number counts as infinite."""
    gap = (f(x).reshape(len(x)) - g(x).reshape(len(x))).abs()
    return gap.nan_to_num(nan=torch.inf)

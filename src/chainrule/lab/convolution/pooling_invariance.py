"""Claim: pooling ignores movement within its windows (L "Pooling layers in CNNs", A 2.1).

    (T x)(k) = max_{i = kp … (k+1)p - 1} x(i)     ⇒   T x = T x' for x' = x permuted in each window
    a bright pixel that moves by s < p stays in its window from a fraction 1 - s/p of all positions

Measured: how many pooled values change when all windows of random images are permuted at random,
for maxima and averages, plus how many positions differ from the predicted fraction; all positions
are tried.
Bound: exactly 0; the images hold integers.
L prints the window kp … (k+1)p, one entry too many: it overlaps its neighbor and is not invariant.
LeCun et al. (1998).
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.integer_signals import integer_signal
from chainrule.models.convolution.lenet import POOLINGS

WIDTH = 64
WINDOWS = (2, 4, 8)
Pool = Callable[[Tensor, int], Tensor]


def check(images: int = 50, seed: int = 0) -> Verdict:
    """The pooling layers of the library.

    Args:
        images: Random images for each pooling and window.
    """
    return verdict(list(POOLINGS.values()), images, seed)


def broken() -> Verdict:
    """Windows of p + 1 entries with stride p, as printed in L."""
    return verdict([lambda x, p: F.max_pool2d(x, p + 1, p)], 10, 0)


def near() -> Near:
    """Windows that begin one pixel late, unequal pixels, and another fraction of positions."""

    def late(x: Tensor, p: int) -> Tensor:
        return F.max_pool2d(x.roll(1, -1), p)

    def unequal(factor: float, x: Tensor, p: int) -> Tensor:
        corner = torch.ones(p, p, dtype=x.dtype)
        corner[0, 0] = factor
        return F.avg_pool2d(x * corner.repeat(x.shape[-2] // p, x.shape[-1] // p), p)

    return {
        "windows one pixel late": lambda: verdict([late], 2, 0),
        **ten_percent(
            "one pixel of each window",
            lambda factor: verdict([F.max_pool2d, partial(unequal, factor)], 2, 0),
        ),
        **ten_percent("s/p", lambda factor: verdict([F.max_pool2d], 2, 0, factor)),
    }


def verdict(pools: list[Pool], images: int, seed: int, factor: float = 1.0) -> Verdict:
    """Permutations within windows, and a moving pixel; `factor` mutates the predicted s/p."""
    generator = torch.Generator().manual_seed(seed)
    changed = sum(seen(pool, p, images, generator) for pool in pools for p in WINDOWS)
    steps = range(max(WINDOWS) + 1)
    counts = {p: [unmoved(pools[0], p, s) for s in steps] for p in WINDOWS}
    wrong = sum(
        abs(found - WIDTH * max(0.0, 1 - factor * s / p))
        for p in WINDOWS
        for s, found in zip(steps, counts[p], strict=True)
    )
    shifts = [float(s) for s in steps]
    return Verdict(
        quantity="changed values + wrong positions",
        measured=float(changed + wrong),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Pooling ignores shifts that are small compared with its window p",
            x_label="shift of a bright pixel, in pixels",
            y_label="fraction of positions where nothing changes",
            curves={f"p = {p}": ([0.0, float(p), shifts[-1]], [1.0, 0.0, 0.0]) for p in WINDOWS},
            points={f"p = {p}": (shifts, [c / WIDTH for c in counts[p]]) for p in WINDOWS},
        ),
        details={"values changed": float(changed)},
    )


def seen(pool: Pool, p: int, images: int, generator: torch.Generator) -> int:
    """Pooled values that change when the pixels of every p×p window are permuted."""
    windows = integer_signal([images, 4, 4, p * p], generator)
    order = torch.rand(windows.shape, generator=generator).argsort(-1)
    before, after = (pool(joined(w, p), p) for w in (windows, windows.gather(-1, order)))
    return int((before != after).sum())


def joined(windows: Tensor, p: int) -> Tensor:
    """(images, rows, columns, p²) → images of rows p × columns p pixels."""
    return windows.unflatten(-1, (p, p)).transpose(2, 3).flatten(3).flatten(1, 2)[:, None]


def unmoved(pool: Pool, p: int, shift: int) -> int:
    """Positions in a ring from which a shifted pixel gives the same pooled values."""
    pixels = torch.eye(WIDTH)[:, None, None].expand(-1, 1, 2 * p, -1)
    return int((pool(pixels, p) == pool(pixels.roll(shift, 3), p)).flatten(1).all(1).sum())

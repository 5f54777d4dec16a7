"""Claim: the cost of windowed and of linear attention grows linearly with the length (L 8).

    C_full = 2 n² d,        C_windowed = 2 n d (3w + 2g),        C_linear = 2 n d (d/h + 1)

Measured: multiply-adds between positions, counted while the layers run, for doubling lengths n,
multiples of w; the largest relative difference from the formulas of all three layers.
Bound: exactly 0; counts are whole numbers.
w is the window to each side, g the number of global tokens, h the number of heads. The projections
to queries, keys and values are left out; all three layers have the same ones. Child et al. (2019),
Beltagy et al. (2020), Katharopoulos et al. (2020).
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.multiply_adds import multiply_adds
from chainrule.models.attention.linear_attention import LinearAttention
from chainrule.models.attention.windowed_attention import WindowedAttention
from chainrule.nn.attention import SelfAttention

WIDTH, HEADS, WINDOW, GLOBAL = 32, 2, 16, 2
LENGTHS = (64, 128, 256, 512, 1024)


def check(hidden_size: int = WIDTH, window: int = WINDOW) -> Verdict:
    """Windowed and linear attention.

    Args:
        hidden_size: Hidden size d.
        window: Neighbors that windowed attention sees on each side.
    """
    return verdict(hidden_size, window, [n // WINDOW * window for n in LENGTHS])


def broken() -> Verdict:
    """A window as wide as the longest text."""
    return verdict(WIDTH, WINDOW, list(LENGTHS), seen=LENGTHS[-1])


def near() -> Near:
    """A padded last block, a wider window, and formulas that are off by a little."""
    few = list(LENGTHS[:3])
    violations: Near = {
        "lengths 63, 127, 255": lambda: verdict(WIDTH, WINDOW, [n - 1 for n in few]),
        "a window of 17": lambda: verdict(WIDTH, WINDOW, few, seen=WINDOW + 1),
    }
    for name in ("full", "windowed", "linear"):
        violations |= ten_percent(f"C_{name}", partial(scaled, few, name))
    return violations


def scaled(lengths: list[int], name: str, factor: float) -> Verdict:
    """Another formula for one of the layers."""
    return verdict(WIDTH, WINDOW, lengths, factors={name: factor})


def verdict(
    width: int,
    window: int,
    lengths: list[int],
    seen: int | None = None,
    factors: Mapping[str, float] = MappingProxyType({}),
) -> Verdict:
    """Counts against formulas; seen: the window of the layer, by default that of the formula."""
    layers = {
        "full": SelfAttention(width, HEADS),
        "windowed": WindowedAttention(width, HEADS, seen or window, GLOBAL),
        "linear": LinearAttention(width, HEADS),
    }
    costs = {name: between(layer, width, lengths) for name, layer in layers.items()}
    predicted = {
        "full": [2.0 * n * n * width for n in lengths],
        "windowed": [2.0 * n * width * (3 * window + 2 * GLOBAL) for n in lengths],
        "linear": [2.0 * n * width * (width / HEADS + 1) for n in lengths],
    }
    worst = max(
        abs(counted / (factors.get(name, 1.0) * expected) - 1)
        for name in costs
        for counted, expected in zip(costs[name], predicted[name], strict=True)
    )
    x = [float(n) for n in lengths]
    return Verdict(
        quantity="largest |multiply-adds / formula - 1|",
        measured=worst,
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Twice the length: four times the cost of full attention, twice the others'",
            x_label="length n",
            y_label="multiply-adds between positions",
            curves={f"{name}, formula": (x, cost) for name, cost in predicted.items()},
            points={f"{name}, counted": (x, list(map(float, c))) for name, c in costs.items()},
            log="xy",
        ),
        details={f"{name} at n = {lengths[-1]}": float(cost[-1]) for name, cost in costs.items()},
    )


def between(layer: nn.Module, width: int, lengths: list[int]) -> list[int]:
    """Multiply-adds without the 4 n d² of the projections."""
    return [multiply_adds(layer, torch.zeros(1, n, width)) - 4 * n * width**2 for n in lengths]

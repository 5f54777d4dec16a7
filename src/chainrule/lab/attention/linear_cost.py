"""Claim: the cost of windowed and of linear attention grows linearly with the length (L 8).

    C_full = 2 n² d,        C_windowed = 2 n d (3w + 2g),        C_linear = 2 n d (d/h + 1)

Measured: multiply-adds between positions, counted while the layers run, for doubling lengths n,
multiples of w; the largest |C(2n) - 2 C(n)| / C(n) of both.
Bound: exactly 0; counts are whole numbers. Full attention gives 2.
w is the window to each side, g the number of global tokens, h the number of heads. The projections
to queries, keys and values are left out; all three layers have the same ones. Child et al. (2019),
Beltagy et al. (2020), Katharopoulos et al. (2020).
"""

from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict
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
    lengths = [n // WINDOW * window for n in LENGTHS]
    cheap = {
        "windowed": WindowedAttention(hidden_size, HEADS, window, GLOBAL),
        "linear": LinearAttention(hidden_size, HEADS),
    }
    return verdict(cheap, SelfAttention(hidden_size, HEADS), hidden_size, lengths)


def broken() -> Verdict:
    """A window as wide as the longest text."""
    wide = {"windowed": WindowedAttention(WIDTH, HEADS, LENGTHS[-1])}
    return verdict(wide, SelfAttention(WIDTH, HEADS), WIDTH, list(LENGTHS))


def near() -> Near:
    """Lengths that are not quite multiples of the window, so that the last block is padded."""
    layers = {"windowed": WindowedAttention(WIDTH, HEADS, WINDOW, GLOBAL)}
    lengths = [n - 1 for n in LENGTHS[:3]]
    return {
        "lengths 63, 127, 255": lambda: verdict(layers, SelfAttention(WIDTH, HEADS), WIDTH, lengths)
    }


def verdict(
    cheap: Mapping[str, nn.Module], full: nn.Module, width: int, lengths: list[int]
) -> Verdict:
    """Growth from each length to its double."""
    costs = {name: between(layer, width, lengths) for name, layer in cheap.items()}
    growth = {
        name: max(abs(after - 2 * before) / before for before, after in pairwise(cost))
        for name, cost in costs.items()
    }
    worst = max(growth.values())
    x = [float(n) for n in lengths]
    costs = {"full": between(full, width, lengths), **costs}
    slopes = {"full": 2.0, "windowed": 1.0, "linear": 1.0}
    return Verdict(
        quantity="largest |C(2n) - 2 C(n)| / C(n)",
        measured=worst,
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Twice the length: four times the cost of full attention, twice the others'",
            x_label="length n",
            y_label="multiply-adds between positions",
            curves={
                f"{name}, ∝ n{'²' * (slopes[name] == 2)}": (
                    x,
                    [cost[0] * (n / x[0]) ** slopes[name] for n in x],
                )
                for name, cost in costs.items()
            },
            points={f"{name}, counted": (x, list(map(float, c))) for name, c in costs.items()},
            log="xy",
        ),
        details={f"{name} at n = {lengths[-1]}": float(cost[-1]) for name, cost in costs.items()},
    )


def between(layer: nn.Module, width: int, lengths: list[int]) -> list[int]:
    """Multiply-adds without the 4 n d² of the projections."""
    return [multiply_adds(layer, torch.zeros(1, n, width)) - 4 * n * width**2 for n in lengths]

"""Claim: two dense layers on a 256×256 color image have 77,309,804,544 parameters (A 2.1).

    n = 3 · 256 · 256 = 196,608:    n² + n² + n + n = 77,309,804,544          dense
                                    (3 · 3² + 1) 64 = 1,792 at any size       64 filters of 3×3

Measured: the parameters of the library's MLP and of a convolution, built without allocating their
weights, for images from 4×4 to 256×256; the largest relative difference from the formulas, and from
A's two totals, 77,309,804,544 in color and 8,590,065,664 in gray.
Bound: exactly 0; counts are whole numbers.
LeCun et al. (1989) for shared weights.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.profile import convolution_parameters, dense_parameters

SIDES = (4, 8, 16, 32, 64, 128, 256)
PRINTED = {3: 77_309_804_544, 1: 8_590_065_664}  # channels: parameters
FILTERS, KERNEL = 64, 3


def check(channels: int = 3) -> Verdict:
    """Weights and biases.

    Args:
        channels: Channels of the image.
    """
    return verdict(channels, bias=True)


def broken() -> Verdict:
    """Without the biases of the second layer."""
    return verdict(3, bias=False)


def near() -> Near:
    """Totals that are off by one, or by 10 %."""

    def changed(add: int = 0, factor: float = 1.0) -> Verdict:
        return verdict(3, True, {c: round(factor * n) + add for c, n in PRINTED.items()})

    return {
        "A's totals + 1": partial(changed, add=1),
        **ten_percent("A's totals", lambda factor: changed(factor=factor)),
    }


def verdict(
    channels: int, bias: bool, printed: Mapping[int, int] = MappingProxyType(PRINTED)
) -> Verdict:
    """Counts of built layers against the formulas."""
    dense = [built(channels * side**2, bias) for side in SIDES]
    shared = [parameters(filters(channels)) for _ in SIDES]
    expected = [dense_parameters([channels * side**2] * 3) for side in SIDES]
    wanted = convolution_parameters(channels, FILTERS, KERNEL)
    gaps = [abs(found - n) / n for found, n in zip(dense, expected, strict=True)]
    gaps += [abs(found - wanted) / wanted for found in shared]
    gaps += [abs(built(c * 256**2, bias) - n) / n for c, n in printed.items()]
    sides = [float(side) for side in SIDES]
    fine = [float(side) for side in range(SIDES[0], SIDES[-1] + 1)]
    return Verdict(
        quantity="largest |counted - formula| / formula",
        measured=max(gaps),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Dense layers grow with the image, shared filters do not",
            x_label="side of the image, in pixels",
            y_label="parameters",
            curves={
                "two dense layers": (
                    fine,
                    [2 * n * (n + 1) for s in fine for n in [channels * s**2]],
                ),
                "64 filters of 3×3": (fine, [float(wanted)] * len(fine)),
            },
            points={
                "two dense layers": (sides, [float(n) for n in dense]),
                "64 filters of 3×3": (sides, [float(n) for n in shared]),
            },
            marks={"77 billion": 256.0} if channels == 3 else {},
            log="xy",
        ),
        details={"at 256×256": float(dense[-1])},
    )


def built(n: int, bias: bool) -> int:
    """The parameters of n - n - n, with or without the last biases."""
    with torch.device("meta"):
        return parameters(MLP(n, [n], n, initialization="zero", output_bias=bias))


def filters(channels: int) -> nn.Module:
    with torch.device("meta"):
        return nn.Conv2d(channels, FILTERS, KERNEL)


def parameters(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())

"""Claim: layer normalization standardizes each example by itself, in any batch (J 8.5).

    x̄ = (x - E x) / √(Var x + ε)   ⇒   E x̄ = 0,   Var x̄ = s² / (s² + ε)        over the d units
    LN(x)_i does not depend on x_j, j ≠ i

Measured: mean and variance of examples after it, and the change of the output for one example when
the rest of its batch changes; the largest distance from the prediction.
Bound: 1e-12, about a thousand times the rounding of double precision.
Batch normalization, in the picture, depends on the other examples by about √(3/B) in a batch of B.
Ba, Kiros and Hinton (2016).
"""

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.normalization import BatchNorm, LayerNorm

BOUND = 1e-12
SIZES = (2, 4, 8, 16, 32, 64, 128, 256, 512)


def check(units: int = 64, seed: int = 0) -> Verdict:
    """Statistics over the units of an example.

    Args:
        units: Units d.
    """
    return verdict(units, seed, LayerNorm(units))


def broken() -> Verdict:
    """Statistics over the batch."""
    return verdict(64, 0, BatchNorm(64))


def near() -> Near:
    """Another ε than the prediction's, or groups of units."""
    return {
        **ten_percent("ε", lambda factor: verdict(64, 0, LayerNorm(64, 1e-5 * factor))),
        "two groups of units": lambda: verdict(64, 0, nn.GroupNorm(2, 64)),
    }


def verdict(units: int, seed: int, norm: nn.Module) -> Verdict:
    """Statistics of examples, and their outputs in two batches."""
    generator = torch.Generator().manual_seed(seed)
    first, second = 3 * torch.randn(2, SIZES[-1], units, dtype=torch.float64, generator=generator)
    second[0] = first[0]
    variance = first.var(1, correction=0)
    with torch.no_grad():
        out = norm.double()(first)
    off = (out.var(1, correction=0) - variance / (variance + 1e-5)).abs().max()
    changes = [change(norm, first[:size], second[:size]) for size in SIZES]
    worst = max(out.mean(1).abs().max().item(), off.item(), *changes)
    company = [change(BatchNorm(units).double(), first[:size], second[:size]) for size in SIZES]
    sizes = [float(size) for size in SIZES]
    return Verdict(
        quantity="largest |statistic - predicted| or change of an output",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Layer normalization does not depend on the rest of the batch",
            x_label="examples B in the batch",
            y_label="change of one output with the others",
            curves={
                "0": ([sizes[0], sizes[-1]], [0.0, 0.0]),
                "√(3/B)": (sizes, [(3 / size) ** 0.5 for size in SIZES]),
            },
            points={
                "layer normalization": (sizes, changes),
                "batch normalization": (sizes, company),
            },
            log="x",
        ),
    )


@torch.no_grad()
def change(norm: nn.Module, first: Tensor, second: Tensor) -> float:
    """Root mean square difference between the outputs for their common first example."""
    return (norm(first)[0] - norm(second)[0]).square().mean().sqrt().item()

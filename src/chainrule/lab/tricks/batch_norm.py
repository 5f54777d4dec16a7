"""Claim: batch normalization gives every unit mean 0 and variance s² / (s² + ε) (J 8.5).

    f̄ = (f - E f) / √(Var f + ε)   ⇒   E f̄ = 0,   Var f̄ = s² / (s² + ε)        over the batch

The formula holds for units of any mean and variance s². ε, which J leaves out, makes the variance 1
only for s² ≫ ε.
Measured: mean and variance of each unit's output in training mode, for s from 10⁻⁵ to 10³; their
largest distance from the prediction, divided by the condition number of the difference, 1 + |E f| /
s.
Bound: 1e-12, rounding in double precision.
Ioffe and Szegedy (2015).
"""

import torch

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.normalization import BatchNorm

BOUND = 1e-12


def check(units: int = 33, batch: int = 64, seed: int = 0) -> Verdict:
    """The statistics of the batch.

    Args:
        units: Units, with standard deviations from 10⁻⁵ to 10³.
        batch: Examples in the batch.
    """
    return verdict(units, batch, seed, training=True)


def broken() -> Verdict:
    """The running statistics, before any training."""
    return verdict(33, 64, 0, training=False)


def near() -> Near:
    """A prediction with another ε."""
    return {
        **ten_percent("ε", lambda factor: verdict(33, 64, 0, training=True, scale=factor)),
        "as printed: no ε": lambda: verdict(33, 64, 0, training=True, scale=0.0),
    }


def verdict(units: int, batch: int, seed: int, training: bool, scale: float = 1.0) -> Verdict:
    """Mean and variance of the outputs."""
    generator = torch.Generator().manual_seed(seed)
    spread = torch.logspace(-5, 3, units, dtype=torch.float64)
    center = spread * torch.randn(units, dtype=torch.float64, generator=generator)
    f = center + spread * torch.randn(batch, units, dtype=torch.float64, generator=generator)
    norm = BatchNorm(units).double().train(training)
    with torch.no_grad():
        out = norm(f)
    variance, after = f.var(0, correction=0), out.var(0, correction=0)
    off = (after - variance / (variance + scale * norm.eps)).abs()
    condition = 1 + f.mean(0).abs() / variance.sqrt()
    worst = (torch.maximum(out.mean(0).abs(), off) / condition).max().item()
    fine = torch.logspace(-5, 3, 100, dtype=torch.float64)
    return Verdict(
        quantity="largest |mean or variance - predicted| / condition",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="The output has variance 1 unless the input's is below ε",
            x_label="standard deviation s of a unit before",
            y_label="mean and variance after",
            curves={
                "variance": (fine.tolist(), (fine**2 / (fine**2 + norm.eps)).tolist()),
                "mean": ([1e-5, 1e3], [0.0, 0.0]),
            },
            points={
                "variance": (variance.sqrt().tolist(), after.tolist()),
                "mean": (variance.sqrt().tolist(), out.mean(0).tolist()),
            },
            marks={"s = √ε": norm.eps**0.5},
            log="x",
        ),
    )

"""Claim: polynomials approximate every continuous function on a compact set (J 2.4, theorem 2.4).

    B_m f(x) = Σ_k f(k/m) (m choose k) xᵏ (1 - x)ᵐ⁻ᵏ  → f     uniformly on [0, 1] (Bernstein)
    f(x) = x²:         d(f, B_m f) = 1/4m
    f(x) = |x - ½|:    d(f, B_m f) = (m choose m/2) / 2ᵐ⁺¹ ≈ 1/√(2πm)     for even m; it has a kink

Measured: d(f, B_m f), the largest distance on [0, 1], divided by this formula, less 1; the largest
for both functions and even m up to `degree`.
Bound: 1e-6, for the search of the largest distance.
On all of ℝ the theorem fails: no polynomial stays near a bounded function. Weierstrass (1885);
Bernstein (1912).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from scipy.stats import binom
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.sup_norm import sup_distance

BOUND = 1e-6
Function = Callable[[Tensor], Tensor]
TARGETS: dict[str, tuple[Function, Callable[[int], float]]] = {
    "x²": (torch.square, lambda m: 1 / (4 * m)),
    "|x - ½|": (
        lambda x: (x - 0.5).abs(),
        lambda m: float(binom.pmf(m // 2, m, 0.5)) / 2,
    ),
}


def check(degree: int = 256) -> Verdict:
    """On [0, 1].

    Args:
        degree: Largest degree m of the polynomials, at least 2.
    """
    return verdict(degree)


def broken() -> Verdict:
    """On a longer interval than the one of the nodes k/m."""
    return verdict(16, high=2.0)


def near() -> Near:
    """The distance off by 10 %, and an interval that is a little too long."""
    return {
        **ten_percent("d(f, B_m f)", lambda factor: verdict(32, factor=factor)),
        "on [0, 1.25]": partial(verdict, 32, high=1.25),
    }


def verdict(degree: int, high: float = 1.0, factor: float = 1.0) -> Verdict:
    """Distances by degree."""
    degrees = [2**k for k in range(1, int(math.log2(max(degree, 2))) + 1)]
    low, top = torch.zeros(1, dtype=torch.float64), torch.tensor([high], dtype=torch.float64)
    found = {
        name: [sup_distance(f, partial(bernstein, f, m), low, top) for m in degrees]
        for name, (f, _) in TARGETS.items()
    }
    formula = {name: [factor * d(m) for m in degrees] for name, (_, d) in TARGETS.items()}
    wrong = [
        abs(a / b - 1) for name in TARGETS for a, b in zip(found[name], formula[name], strict=True)
    ]
    x = [float(m) for m in degrees]
    return Verdict(
        quantity="largest |d(f, B_m f) / formula - 1|",
        measured=max(wrong),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Polynomials approach even a function with a kink, but slowly",
            x_label="degree m",
            y_label="largest distance on [0, 1]",
            curves={name: (x, distances) for name, distances in formula.items()},
            points={name: (x, distances) for name, distances in found.items()},
            log="xy",
        ),
        details={f"{name}, degree {degrees[-1]}": d[-1] for name, d in found.items()},
    )


def bernstein(f: Function, m: int, x: Tensor) -> Tensor:
    """B_m f(x), by de Casteljau's rule: the mean of two neighbors, m times."""
    values = f(torch.arange(m + 1, dtype=torch.float64) / m).expand(len(x), -1)
    for _ in range(m):
        values = (1 - x) * values[:, :-1] + x * values[:, 1:]
    return values

"""Claim: perturb-and-accept needs about 5n evaluations where a gradient step needs one (A 1.3.6).

    h(θ) = ½ ‖θ‖²,  θ' = θ + s ‖θ‖ u kept if better,  t = cosine between u and -θ, of density
    ∝ (1 - t²)^{(n-3)/2}:     E ln(‖θ'‖/‖θ‖) = E[½ ln(1 - 2 s t + s²); t > s/2]  →  -0.2025/n

Measured: the mean of ln(‖θ'‖/‖θ‖) over many steps of the library's random search, for n = 3 … 100
and the best s ≈ 1.224/√n, against the integral; the largest distance in standard errors.
Bound: the normal quantile that all n together exceed for one seed in 10⁷.
A gradient step of size 1/L reaches the minimum of this h at once, in any dimension; that is why A's
first idea does not scale. Rastrigin (1963), Rechenberg (1973).
"""

import math

import torch
from scipy.integrate import quad
from scipy.stats import norm
from torch import Tensor

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.random_search import random_search

LEVEL = 1e-7
DIMENSIONS = (3, 10, 30, 100)
BEST = 1.224  # s √n for large n
LIMIT = 0.2025


def check(searches: int = 40_000, seed: int = 0) -> Verdict:
    """One step each from the unit sphere.

    Args:
        searches: Independent searches in each dimension.
    """
    return verdict(searches, seed)


def broken() -> Verdict:
    """Progress that does not depend on the dimension."""
    return verdict(20_000, 0, power=0.0)


def near() -> Near:
    """Progress off by 10 %, another power of n, and worse steps accepted in the formula."""
    return {
        **ten_percent("the progress", lambda factor: verdict(40_000, 0, scale=factor)),
        "n^0.9": lambda: verdict(40_000, 0, power=0.9),
        "accepted for t > s/4": lambda: verdict(40_000, 0, border=0.25),
    }


def verdict(
    searches: int, seed: int, scale: float = 1.0, power: float = 1.0, border: float = 0.5
) -> Verdict:
    """Mean logarithmic progress by n."""
    found = [progress(n, searches, seed) for n in DIMENSIONS]

    def formula(n: float | int) -> float:
        return scale * expected(n, border) * n ** (1 - power)

    off = max(
        abs(x.mean().item() - formula(n)) * searches**0.5 / x.std().item()
        for n, x in zip(DIMENSIONS, found, strict=True)
    )
    start = torch.ones(DIMENSIONS[-1], dtype=torch.float64)
    one_step = gradient_descent(lambda theta: 0.5 * theta.square().sum(), start, 1, 1.0)[-1]
    x = list(map(float, DIMENSIONS))
    fine = [10 ** (0.45 + k / 40) for k in range(63)]
    return Verdict(
        quantity="largest |mean progress - integral|, standard errors",
        measured=off,
        relation="≤",
        bound=float(norm.isf(LEVEL / 2 / len(DIMENSIONS))),
        conditions={"one gradient step of 1/L arrives": one_step.norm().item() == 0},
        picture=Picture(
            title="Random search needs n times as many evaluations in n dimensions",
            x_label="dimension n",
            y_label="evaluations to shrink the distance by 1/e",
            curves={"integral": (fine, [-1 / formula(n) for n in fine])},
            points={"random search": (x, [-1 / f.mean().item() for f in found])},
            bounds={"n / 0.2025": (fine, [n / LIMIT for n in fine])},
            log="xy",
        ),
        details={f"evaluations per 1/e, n = {n}": -1 / formula(n) for n in DIMENSIONS},
    )


def progress(n: int, searches: int, seed: int) -> Tensor:
    """ln ‖θ'‖ of one step of each search from (1, 0, …, 0)."""
    start = torch.zeros(searches, n, dtype=torch.float64)
    start[:, 0] = 1.0
    path = random_search(half_square, start, 1, BEST / n**0.5, seed)
    return path[-1].norm(dim=1).log()


def half_square(theta: Tensor) -> Tensor:
    """½ ‖θ‖² of each row."""
    return 0.5 * theta.square().sum(1)


def expected(n: float | int, border: float = 0.5) -> float:
    """E[½ ln(1 - 2 s t + s²); t > s/2]."""
    s = BEST / n**0.5
    constant = math.exp(math.lgamma(n / 2) - math.lgamma((n - 1) / 2)) / math.pi**0.5

    def integrand(t: float) -> float:
        return 0.5 * math.log(1 - 2 * s * t + s * s) * (1 - t * t) ** ((n - 3) / 2)

    return constant * float(quad(integrand, border * s, 1.0)[0])

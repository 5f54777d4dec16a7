"""Claim: up to n / (2 log₂ n) random patterns are stored without errors (J 1.4).

    s ≤ n / (2 log₂ n)   ⇒   P(pattern disturbed) ≤ n p → 0,     p ≈ ½ erfc √(n / 2s) < n^(-1.44)

Measured: for n = 64 … `max_units`, the fraction of stored patterns that one update changes, over
independent memories; how far it lies above n p, in standard errors.
Bound: Student's quantile that all n together exceed for one seed in 10⁶; by the union bound, n p is
at least the expected fraction.
p is the exact probability that a bit flips; the formula is its limit. The curves of the picture
treat bits as independent: 1 - (1 - p)ⁿ.
"""

import math
from statistics import fmean

import torch
from scipy.stats import t

from chainrule.lab.claim import Picture, Verdict
from chainrule.lab.helpers.crosstalk import flip_probability
from chainrule.models.connectionism.hopfield import hebb, stable

LEVEL = 1e-6
SHOWN = (128, 1024)  # units, in the picture
LOADS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


def check(max_units: int = 1024, memories: int = 30, seed: int = 0) -> Verdict:
    """As many patterns as the bound allows.

    Args:
        max_units: Units n of the largest memory.
        memories: Independent memories of that size; proportionally more of the smaller ones.
    """
    return verdict(max_units, memories, seed, load=1.0)


def broken() -> Verdict:
    """Three times as many patterns."""
    return verdict(1024, 20, 0, load=3.0)


def verdict(largest: int, memories: int, seed: int, load: float) -> Verdict:
    """Fractions of disturbed patterns by n."""
    generator = torch.Generator().manual_seed(seed)
    sizes = [64 * 2**k for k in range(max(2, int(math.log2(largest / 64)) + 1))]
    means, distances = [], []
    for n in sizes:
        s = int(load * allowed(n))
        tried = memories * sizes[-1] // n  # small memories hold few patterns, so more of them
        shares = torch.tensor([disturbed(n, s, generator) for _ in range(tried)])
        error = shares.std().item() / tried**0.5 + 1 / (tried * s)
        means.append(shares.mean().item())
        distances.append((means[-1] - expected(n)) / error)
    bound = float(t.isf(LEVEL / len(sizes), memories - 1))
    return Verdict(
        quantity="largest (disturbed fraction - n p), standard errors",
        measured=max(distances),
        relation="≤",
        bound=bound,
        picture=picture(generator),
        details={"at the smallest n": means[0], "at the largest n": means[-1]},
    )


def picture(generator: torch.Generator) -> Picture:
    """Errors beyond the bound increase more steeply in larger memories."""
    curves, points = {}, {}
    for n in SHOWN:
        loads = [load / 10 for load in range(5, 31)]
        curves[f"n = {n}"] = (
            loads,
            [1 - (1 - flip_probability(n, int(x * allowed(n)))) ** n for x in loads],
        )
        shares = [
            fmean(disturbed(n, int(x * allowed(n)), generator) for _ in range(8)) for x in LOADS
        ]
        points[f"n = {n}"] = (list(LOADS), shares)
    return Picture(
        title="Up to n / (2 log₂ n) patterns, almost none is disturbed",
        x_label="patterns, as a multiple of n / (2 log₂ n)",
        y_label="fraction of patterns with an error",
        curves=curves,
        points=points,
        marks={"the bound": 1.0},
    )


def expected(n: int) -> float:
    """n p at s = n / (2 log₂ n)."""
    return n * flip_probability(n, int(allowed(n)))


def allowed(n: int) -> float:
    return n / (2 * math.log2(n))


def disturbed(n: int, s: int, generator: torch.Generator) -> float:
    """Fraction of the stored patterns that are not stable."""
    patterns = torch.randint(0, 2, (s, n), generator=generator).float() * 2 - 1
    return 1 - stable(hebb(patterns), torch.zeros(n), patterns).double().mean().item()

"""Claim: the perceptron makes at most ⌊R²/γ²⌋ mistakes (Novikoff 1962, J 1.2).

    y wᵀx ≥ γ for a unit vector w and all examples, R = max ‖x‖   ⇒   mistakes ≤ ⌊R²/γ²⌋

Measured: over random separable data sets, the largest ratio of mistakes to ⌊R²/γ²⌋, where γ is the
largest margin of any w.
Bound: 1, by the theorem; counts are whole numbers, and γ has a relative rounding error of 1e-9.
Theorem J 1.3 prints "less than ⌈R²/γ²⌉"; its proof gives the floor.
"""

import math
from functools import partial

import torch

from chainrule.data.datasets.blobs import sample
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.connectionism.perceptron import maximal_margin, perceptron_algorithm


def check(trials: int = 100, examples: int = 60, seed: int = 0) -> Verdict:
    """Run algorithm 1 on data sets of 2 to 10 dimensions and many margins.

    Args:
        trials: Random separable data sets.
        examples: Examples per data set.
    """
    return verdict(trials, examples, seed, power=2.0)


def broken() -> Verdict:
    """The wrong exponent: R/γ does not bound the mistakes."""
    return verdict(trials=40, number=60, seed=0, power=1.0)


def near() -> Near:
    """A slightly smaller exponent."""
    return {
        f"(R/γ)^{power}": partial(verdict, trials=40, number=60, seed=0, power=power)
        for power in (1.8, 1.6, 1.4, 1.2)
    }


def verdict(trials: int, number: int, seed: int, power: float) -> Verdict:
    """Mistakes against ⌊(R/γ)^power⌋."""
    found = [mistakes_and_bound(number, seed * trials + trial, power) for trial in range(trials)]
    mistakes, bounds = zip(*found, strict=True)
    worst = max(m / b for m, b in found)
    low, high = min(bounds), max(bounds)
    bound = "R²/γ²" if power == 2 else f"(R/γ)^{power:g}"
    return Verdict(
        quantity=f"largest mistakes / ⌊{bound}⌋",
        measured=worst,
        relation="≤",
        bound=1.0,
        picture=Picture(
            title=f"Mistakes of the perceptron against {bound}",
            x_label=f"bound {bound}",
            y_label="mistakes",
            points={"data sets": (list(bounds), [max(m, 0.5) for m in mistakes])},
            bounds={"mistakes = bound": ([low, high], [low, high])},
            log="xy",
        ),
        details={"trials": float(trials), "most mistakes": max(mistakes)},
    )


def mistakes_and_bound(number: int, seed: int, power: float) -> tuple[float, float]:
    """The algorithm's mistakes on one random data set, and what the theorem allows."""
    generator = torch.Generator().manual_seed(seed)
    dimension = int(torch.randint(2, 11, (), generator=generator))
    margin = 10 ** float(-2 * torch.rand((), generator=generator))
    (points, labels), _ = sample(number, dimension, margin, seed)
    x, y = points.double(), 2.0 * labels.double() - 1
    best = maximal_margin(x, y)
    if best is None:
        raise RuntimeError("a data set built with a margin was found inseparable")
    radius = x.norm(dim=1).max().item()
    result = perceptron_algorithm(x, y, passes=100_000, bias=False, patience=None)
    bound = math.floor((radius / best[1] * (1 + 1e-9)) ** power)
    return float(result.mistakes), float(bound)

"""Claim: the perceptron makes at most ⌊R²/γ²⌋ mistakes, and may make as many (J 1.2).

    y wᵀx ≥ γ for a unit vector w and all examples, R = max ‖x‖   ⇒   mistakes ≤ ⌊R²/γ²⌋
    x_i = ±e_i, i = 1 … n:    γ = 1/√n, R = 1,    mistakes = n = R²/γ²

Measured: over random separable data sets and signed, shuffled unit vectors of 2 to 10 dimensions,
the largest ratio of mistakes to ⌊R²/γ²⌋, where γ is the largest margin of any w.
Bound: exactly 1. The theorem says "at most"; on the unit vectors the algorithm makes one mistake
each. Counts are whole numbers, and R/γ has a relative rounding error below 1e-9.
Theorem J 1.3 prints "less than ⌈R²/γ²⌉", which the unit vectors refute; its proof gives the floor.
Novikoff (1962).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.data.datasets.blobs import sample
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.perceptron import maximal_margin, perceptron_algorithm

ROUNDING = 1e-9
Bound = Callable[[float], int]  # of R/γ


def check(trials: int = 100, examples: int = 60, seed: int = 0) -> Verdict:
    """Run algorithm 1 on data sets of 2 to 10 dimensions and many margins.

    Args:
        trials: Random separable data sets.
        examples: Examples per data set.
    """
    return verdict(trials, examples, seed, floor_of_power)


def broken() -> Verdict:
    """The wrong exponent: R/γ does not bound the mistakes."""
    return verdict(10, 60, 0, partial(floor_of_power, power=1.0))


def near() -> Near:
    """Another exponent, another constant, and the theorem as printed."""
    powers = {
        f"(R/γ)^{power}": partial(verdict, 10, 60, 0, partial(floor_of_power, power=power))
        for power in (1.8, 2.2)
    }
    scaled = ten_percent("R²/γ²", lambda c: verdict(10, 60, 0, partial(floor_of_power, factor=c)))
    return {**powers, **scaled, "as printed: below ⌈R²/γ²⌉": lambda: verdict(10, 60, 0, printed)}


def floor_of_power(ratio: float, power: float = 2.0, factor: float = 1.0) -> int:
    """⌊c (R/γ)^power⌋."""
    return math.floor(factor * (ratio * (1 + ROUNDING)) ** power)


def printed(ratio: float) -> int:
    """The largest whole number below ⌈R²/γ²⌉."""
    return math.ceil((ratio * (1 - ROUNDING)) ** 2) - 1


def verdict(trials: int, number: int, seed: int, bound: Bound) -> Verdict:
    """Mistakes against the bound, which must hold and be attained."""
    blobs = [separable(number, seed * trials + trial) for trial in range(trials)]
    frames = [unit_vectors(n, seed) for n in range(2, 11)]
    found = {
        name: [mistakes_and_ratio(x, y) for x, y in sets]
        for name, sets in (("random data", blobs), ("unit vectors", frames))
    }
    ratios = {name: [m / max(bound(r), 0.5) for m, r in runs] for name, runs in found.items()}
    axis = [2.0, max(r**2 for runs in found.values() for _, r in runs)]
    return Verdict(
        quantity="largest mistakes / ⌊R²/γ²⌋",
        measured=max(map(max, ratios.values())),
        relation="=",
        bound=1.0,
        conditions={"attained by all unit vectors": set(ratios["unit vectors"]) == {1.0}},
        picture=Picture(
            title="Mistakes of the perceptron against Novikoff's bound",
            x_label="R²/γ²",
            y_label="mistakes",
            points={
                name: ([r**2 for _, r in runs], [max(m, 0.5) for m, _ in runs])
                for name, runs in found.items()
            },
            bounds={"mistakes = R²/γ²": (axis, axis)},
            log="xy",
        ),
        details={
            "trials": float(trials),
            "share of the bound used by random data": max(ratios["random data"]),
            "most mistakes": max(m for m, _ in found["random data"]),
        },
    )


def separable(number: int, seed: int) -> tuple[Tensor, Tensor]:
    """A random data set with a random margin."""
    generator = torch.Generator().manual_seed(seed)
    dimension = int(torch.randint(2, 11, (), generator=generator))
    margin = 10 ** float(-2 * torch.rand((), generator=generator))
    (points, labels), _ = sample(number, dimension, margin, seed)
    return points.double(), 2.0 * labels.double() - 1


def unit_vectors(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """e_1 … e_n in random order, with random labels."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.eye(n, dtype=torch.float64)[torch.randperm(n, generator=generator)]
    return x, torch.randint(0, 2, (n,), generator=generator).double() * 2 - 1


def mistakes_and_ratio(x: Tensor, y: Tensor) -> tuple[float, float]:
    """The algorithm's mistakes, and R/γ."""
    best = maximal_margin(x, y)
    if best is None:
        raise RuntimeError("a data set built with a margin was found inseparable")
    result = perceptron_algorithm(x, y, passes=100_000, bias=False, patience=None)
    return float(result.mistakes), x.norm(dim=1).max().item() / best[1]

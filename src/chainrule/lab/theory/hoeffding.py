"""Claim: the mean of n independent values in [0, 1] rarely misses its expectation by t (A 5).

    P(|mean - μ| ≥ t) ≤ 2 exp(-2 n t²)

Measured: the fraction of means that miss by t or more, for coins of several biases, uniform values
and several n and t; the largest distance above the bound, in standard errors.
Bound: 5; a binomial fraction exceeds it in one draw in 10⁶ or fewer.
Hoeffding (1963), JASA 58.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.theory.bounds import hoeffding

LEVEL = 5.0
NUMBERS = (10, 40, 160)
BIASES = (0.05, 0.3, 0.5)
SCALED = tuple(k / 4 for k in range(1, 9))  # t √n


def check(trials: int = 4000, seed: int = 0) -> Verdict:
    """Independent values.

    Args:
        trials: Means drawn for each n.
    """
    return verdict(trials, seed, repeated=1)


def broken() -> Verdict:
    """Every value is counted five times, so fewer than n are independent."""
    return verdict(4000, 0, repeated=5)


def near() -> Near:
    """Every value counted twice or three times."""
    return {f"values counted {n} times": partial(verdict, 4000, 0, repeated=n) for n in (2, 3)}


def verdict(trials: int, seed: int, repeated: int) -> Verdict:
    """Tails of means against the bound."""
    generator = torch.Generator().manual_seed(seed)
    worst, curves, points = -float("inf"), {}, {}
    for n in NUMBERS:
        u = torch.rand(trials, n // repeated, generator=generator).repeat(1, repeated)
        deviations = [(u.mean(1) - 0.5).abs()]
        deviations += [((u < p).double().mean(1) - p).abs() for p in BIASES]
        for deviation in deviations:
            for t in (c / n**0.5 for c in SCALED):
                share, bound = tail(deviation, t), hoeffding(n, t)
                error = (bound * (1 - bound) / trials) ** 0.5 + 1 / trials
                worst = max(worst, (share - bound) / error)
        t_axis = [c / n**0.5 for c in SCALED]
        fine = [k / 100 / n**0.5 for k in range(25, 201)]
        curves[f"bound, n = {n}"] = (fine, [hoeffding(n, t) for t in fine])
        points[f"coins, n = {n}"] = (t_axis, [tail(deviations[-1], t) for t in t_axis])
    return Verdict(
        quantity="largest (fraction - 2 exp(-2nt²)), standard errors",
        measured=worst,
        relation="≤",
        bound=LEVEL,
        picture=Picture(
            title="Means of fair coins stay below Hoeffding's bound",
            x_label="deviation t",
            y_label="P(|mean - ½| ≥ t)",
            curves=curves,
            points=points,
            log="y",
        ),
        details={"means drawn": float(trials * len(NUMBERS) * (1 + len(BIASES)))},
    )


def tail(deviation: Tensor, t: float) -> float:
    """Fraction of deviations of at least t, up to rounding."""
    return (deviation >= t - 1e-9).double().mean().item()

"""Claim: a linear model with input dropout is an adaptive ridge regression (L exercise 10.5 c).

    E Σ_i (wᵀx̃_i - y_i)² = Σ_i (wᵀx_i - y_i)² + (1 - p)/p Σ_j w_j² Σ_i x_ij²,     x̃ = m ⊙ x / p

The penalty adapts to the size of each input. In any unit, dropout with keep probability p is the
ridge regression with λ = N (1 - p)/p on inputs of mean square 1.
Measured: the weights of least squares on dropped copies of the diabetes data, its columns in units
of 0.01 to 100, over independent repeats; the largest distance from that ridge solution, in standard
errors.
Bound: Student's quantile that all weights and p together exceed for one seed in 10⁶.
Srivastava et al. (2014), Wager, Wang and Liang (2013). Notes also: L "Dropout".
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.diabetes_regression import standardized_diabetes
from chainrule.lab.helpers.noisy_inputs import DRAWN, distance, fits, ridge
from chainrule.nn.dropout import dropout

RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7)
UNITS = torch.logspace(-2, 2, 10, dtype=torch.float64)


def check(copies: int = 40, repeats: int = 60, seed: int = 0) -> Verdict:
    """Ridge on inputs of mean square 1.

    Args:
        copies: Dropped copies of the data in each fit.
        repeats: Independent fits, at least 2.
    """
    return verdict(copies, repeats, seed, torch.ones_like(UNITS))


def broken() -> Verdict:
    """Ridge on the inputs without rescaling, which does not adapt."""
    return verdict(20, 10, 0, UNITS)


def near() -> Near:
    """Other penalties."""
    ones = torch.ones_like(UNITS)
    return ten_percent("λ", lambda factor: verdict(40, 60, 0, ones, factor))


def verdict(copies: int, repeats: int, seed: int, units: Tensor, scale: float = 1.0) -> Verdict:
    """Weights by dropout rate, per standard deviation of an input."""
    x, y = standardized_diabetes()

    def shrunk(rate: float) -> Tensor:
        return units * ridge(units * x, y, scale * len(x) * rate / (1 - rate))

    noises = [partial(dropout, rate=rate, training=True) for rate in RATES]
    found = [UNITS * w for w in fits(UNITS * x, y, noises, copies, repeats, seed)]
    worst, bound = distance(found, [shrunk(rate) for rate in RATES])
    fine = [0.01 + step / 80 for step in range(58)]
    paths = [shrunk(rate) for rate in fine]
    return Verdict(
        quantity="largest |weight - ridge weight|, standard errors",
        measured=worst,
        relation="≤",
        bound=bound,
        picture=Picture(
            title="Dropping inputs shrinks weights as ridge regression does, in any unit",
            x_label="dropout rate 1 - p",
            y_label="weight (progression per standard deviation)",
            curves={name: (fine, [w[j].item() for w in paths]) for name, j in DRAWN.items()},
            points={
                name: (list(RATES), [w[:, j].mean().item() for w in found])
                for name, j in DRAWN.items()
            },
        ),
        details={"examples": float(len(x)), "total copies": float(copies * repeats)},
    )

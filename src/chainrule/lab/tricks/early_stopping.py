"""Claim: t steps of gradient descent shrink like a decay of μ = 1/(η t), within 30 % (J 8.3).

    q_iᵀθ_t = (1 - (1 - η λ_i)ᵗ) q_iᵀθ*       from θ_0 = 0, along H q_i = λ_i q_i
    1 ≤ (1 - e⁻ᶻ) / (z / (1 + z)) < 1.2985,   z = η t λ

Measured: linear regression of the diabetes data by descent of t = 10, 100, 1000 steps and by ridge
regression; the largest factor between the two along an axis.
Bound: 1.2985 c, where c = -log(1 - η L) / η L accounts for finite steps, L being the largest λ.
J prints t ≈ η/μ; it must be 1/(η μ), since smaller steps take longer. Ali, Kolter and Tibshirani
(2019).
"""

import math
from collections.abc import Callable
from functools import partial

import torch

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.diabetes_regression import centered_diabetes, solution
from chainrule.learning.losses import squared
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.ridge_regression import RidgeRegression

TIMES = (10, 100, 1000)
STEP = 0.1  # η L
BOUND = 1.2985 * -math.log(1 - STEP) / STEP


def check() -> Verdict:
    """μ = 1/(η t)."""
    return verdict(lambda eta, t: 1 / (eta * t))


def broken() -> Verdict:
    """μ = η/t, as printed."""
    return verdict(lambda eta, t: eta / t)


def near() -> Near:
    """Other decays than 1/(η t)."""

    def scaled(factor: float) -> Verdict:
        return verdict(lambda eta, t: factor / (eta * t))

    return {f"μ × {factor}": partial(scaled, factor) for factor in (0.8, 0.9, 1.1, 1.2)}


def verdict(decay: Callable[[float, int], float]) -> Verdict:
    """θ_t and θ_μ along the axes, as fractions of θ*."""
    x, y = centered_diabetes()
    inputs = x.shape[1]
    curvatures, axes = torch.linalg.eigh(x.T @ x / len(x))
    eta = STEP / curvatures.max().item()
    path = gradient_descent(
        lambda theta: squared(x @ theta, y).mean(), torch.zeros_like(x.T @ y), max(TIMES), eta
    )
    ridges = [RidgeRegression(inputs, 1, len(x) * decay(eta, t), bias=False) for t in TIMES]
    best = axes.T @ solution(LinearRegression(inputs, bias=False), x, y)
    stopped = torch.cat([axes.T @ path[t][:, 0] / best for t in TIMES])
    decayed = torch.cat([axes.T @ solution(ridge, x, y) / best for ridge in ridges])
    ratio = max((stopped / decayed).max().item(), (decayed / stopped).max().item())
    z = torch.cat([eta * t * curvatures for t in TIMES]).tolist()
    fine = torch.logspace(-3, 2, 100, dtype=torch.float64)
    return Verdict(
        quantity="largest factor between q_iᵀθ_t and q_iᵀθ_μ",
        measured=ratio,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Stopping after t steps shrinks nearly as a decay of 1/(η t) does",
            x_label="steps × rate × curvature, η t λ",
            y_label="fraction of θ* that is kept",
            curves={
                "stopped": (fine.tolist(), (-(-fine).expm1()).tolist()),
                "decayed": (fine.tolist(), (fine / (1 + fine)).tolist()),
            },
            points={"stopped": (z, stopped.tolist()), "decayed": (z, decayed.tolist())},
            log="x",
        ),
    )

"""Claim: t steps of gradient descent shrink like a decay of μ = 1/(η t), within 30 % (J 8.3).

    q_iᵀθ_t = (1 - (1 - η λ_i)ᵗ) q_iᵀθ*       from θ_0 = 0, along H q_i = λ_i q_i
    1 ≤ (1 - e⁻ᶻ) / (z / (1 + z)) < 1.2985,   z = η t λ

Measured: linear regression of the diabetes data by descent of t = 10, 90, 1000, 5000 steps and by
ridge regression; the largest factor by which their ratio along an axis leaves [1, 1.2985].
Bound: c = -log(1 - η L) / η L, which accounts for finite steps, L being the largest λ. At t = 90
the steepest axis has z = 1.8, where the ratio is largest; in the flattest it is close to 1.
J prints t ≈ η/μ; it must be 1/(η μ), since smaller steps take longer. Ali, Kolter and Tibshirani
(2019).
"""

import math
from collections.abc import Callable, Sequence

import torch

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.diabetes_regression import centered_diabetes, solution
from chainrule.learning.losses import squared
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.ridge_regression import RidgeRegression

TIMES = (10, 90, 1000, 5000)
STEP = 0.02  # η L
MOST = 1.2985  # largest (1 - e⁻ᶻ) (1 + z) / z, at z = 1.793
BOUND = -math.log(1 - STEP) / STEP


def check() -> Verdict:
    """μ = 1/(η t)."""
    return verdict(lambda eta, t: 1 / (eta * t))


def broken() -> Verdict:
    """μ = η/t, as printed."""
    return verdict(lambda eta, t: eta / t)


def near() -> Near:
    """Other decays than 1/(η t)."""
    return ten_percent("μ", lambda factor: verdict(lambda eta, t: factor / (eta * t), TIMES[:3]))


def verdict(decay: Callable[[float, int], float], times: Sequence[int] = TIMES) -> Verdict:
    """θ_t and θ_μ along the axes, as fractions of θ*."""
    x, y = centered_diabetes()
    inputs = x.shape[1]
    curvatures, axes = torch.linalg.eigh(x.T @ x / len(x))
    eta = STEP / curvatures.max().item()
    path = gradient_descent(
        lambda theta: squared(x @ theta, y).mean(), torch.zeros_like(x.T @ y), max(times), eta
    )
    ridges = [RidgeRegression(inputs, 1, len(x) * decay(eta, t), bias=False) for t in times]
    best = axes.T @ solution(LinearRegression(inputs, bias=False), x, y)
    stopped = torch.cat([axes.T @ path[t][:, 0] / best for t in times])
    decayed = torch.cat([axes.T @ solution(ridge, x, y) / best for ridge in ridges])
    ratio = stopped / decayed
    most, least = ratio.max().item(), ratio.min().item()
    z = torch.cat([eta * t * curvatures for t in times]).tolist()
    fine = torch.logspace(-3, 2, 100, dtype=torch.float64)
    return Verdict(
        quantity="factor by which q_iᵀθ_t / q_iᵀθ_μ leaves [1, 1.2985]",
        measured=max(most / MOST, 1 / least),
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
        details={"largest ratio": most, "smallest": least, "share of 1.2985": most / MOST},
    )

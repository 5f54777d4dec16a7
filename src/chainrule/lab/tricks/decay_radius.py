"""Claim: weight decay is a prior and a constraint ‖θ‖ ≤ r whose radius falls with μ (J 8.2).

    θ_μ = argmin ℓ(θ) + μ/2 ‖θ‖²                        ℓ = 1/2N ‖Xθ - y‖²
        = argmax p(θ | y),   y ~ N(Xθ, s² I),  θ ~ N(0, τ² I),  μ = s²/(N τ²)        (MAP)
        = argmin ℓ(θ) subject to ‖θ‖ ≤ r(μ),   r(μ) = ‖θ_μ‖, with multiplier μ       (constraint)

Measured: the library's ridge regression of the diabetes data for eight μ; the largest relative
distance of θ_μ from the mean of the Gaussian posterior in its dual form, τ² Xᵀ(τ² X Xᵀ + s² I)⁻¹ y,
and from the constrained minimum by projected gradient descent with radius ‖θ_μ‖.
Bound: 1e-6, to which projected descent converges. r must fall at every step of μ.
J prints the constraint ‖θ‖ ≤ μ, as if a larger μ left more room. Krogh and Hertz (1992).
"""

from itertools import pairwise

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.diabetes_regression import solution, standardized_diabetes
from chainrule.models.feedforward.ridge_regression import RidgeRegression

BOUND = 1e-6
DECAYS = torch.logspace(-2, 1.5, 8, dtype=torch.float64)


def check(steps: int = 2000) -> Verdict:
    """The radius ‖θ_μ‖ and the prior of variance s²/(N μ).

    Args:
        steps: Steps of projected descent.
    """
    return verdict(steps)


def broken() -> Verdict:
    """The radius μ, as printed, in units of ‖θ*‖."""
    return verdict(2000, printed=True)


def near() -> Near:
    """Another radius, or another variance of the prior."""
    return {
        **ten_percent("r", lambda factor: verdict(2000, radius=factor)),
        **ten_percent("τ²", lambda factor: verdict(2000, prior=factor)),
    }


def verdict(steps: int, radius: float = 1.0, prior: float = 1.0, printed: bool = False) -> Verdict:
    """Ridge, posterior and constrained minimum by μ."""
    x, y = standardized_diabetes()
    y = y / y.square().mean().sqrt()
    radii, worst = [], 0.0
    for mu in DECAYS.tolist():
        theta = solution(RidgeRegression(x.shape[1], 1, len(x) * mu, bias=False), x, y)
        r = theta.norm().item()
        radii.append(r)
        constrained = projected_descent(x, y, mu if printed else radius * r, steps)
        found = (posterior_mean(x, y, prior / (len(x) * mu)), constrained)
        worst = max(worst, *((other - theta).norm().item() / r for other in found))
    falling = all(after < before for before, after in pairwise(radii))
    return Verdict(
        quantity="largest relative distance from θ_μ",
        measured=worst,
        relation="≤",
        bound=BOUND,
        conditions={"the radius falls with μ": falling},
        picture=Picture(
            title="More decay leaves less room: the radius falls with μ",
            x_label="weight decay μ",
            y_label="radius ‖θ‖",
            curves={"‖θ_μ‖ of ridge regression": (DECAYS.tolist(), radii)},
            points={
                "posterior mean": (
                    DECAYS.tolist(),
                    [
                        posterior_mean(x, y, 1 / (len(x) * mu)).norm().item()
                        for mu in DECAYS.tolist()
                    ],
                )
            },
            bounds={"‖θ‖ ≤ μ, as printed": ([0.01, 1.0], [0.01, 1.0])},
            log="xy",
        ),
        details={"radius at the smallest μ": radii[0], "at the largest": radii[-1]},
    )


def posterior_mean(x: Tensor, y: Tensor, variance: float) -> Tensor:
    """E θ | y = τ² Xᵀ(τ² X Xᵀ + s² I)⁻¹ y for s = 1."""
    joint = variance * x @ x.T + torch.eye(len(x), dtype=x.dtype)
    return variance * (x.T @ torch.linalg.solve(joint, y))[:, 0]


def projected_descent(x: Tensor, y: Tensor, radius: float, steps: int) -> Tensor:
    """argmin ℓ(θ) in the ball, by accelerated gradient steps and projection."""
    H, g = x.T @ x / len(x), (x.T @ y)[:, 0] / len(x)
    rate = 1 / torch.linalg.matrix_norm(H, 2).item()
    theta = ahead = torch.zeros_like(g)
    for step in range(steps):
        moved = ahead - rate * (H @ ahead - g)
        moved = moved * min(1.0, radius / moved.norm().item())
        ahead = moved + step / (step + 3) * (moved - theta)
        theta = moved
    return theta

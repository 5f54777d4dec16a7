"""Claim: gradient descent converges to the closed-form solution of least squares (J 2.1).

    h(θ) = 1/2s Σ_i (wᵀx_i + b - y_i)²,   H = 1/s Σ_i (x_i, 1)(x_i, 1)ᵀ,   L = λ_max H,  μ = λ_min H
    θ_t - θ* = (I - H/L)ᵗ (θ_0 - θ*)      ⇒   ‖θ_t - θ*‖ ≤ (1 - μ/L)ᵗ ‖θ_0 - θ*‖

Measured: the distance between the last step of gradient descent with η = 1/L and the solution by
singular values, relative to the first step's distance.
Bound: 1e-9; the number of steps brings the theorem's bound to 1e-10, the rest is rounding and the
estimate of L.
Gauss (1809). The notes take examples as columns, X ∈ ℝᵈˣˢ, for which their (XᵀX)⁻¹Xᵀy should read
(XXᵀ)⁻¹Xy.
"""

import math
from functools import partial

import torch

from chainrule.autodiff.curvature import flattened, gradient_descent, safe_rate
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-9
TARGET = 1e-10


def check(examples: int = 200, inputs: int = 8, seed: int = 0) -> Verdict:
    """The theorem's step size 1/L.

    Args:
        examples: Training examples, at least twice the inputs.
        inputs: Input dimension.
    """
    if examples < 2 * inputs:
        raise InputError(
            f"`examples` must be at least twice `inputs` for a unique solution, got {examples}"
        )
    return verdict(examples, inputs, seed, step=1.0)


def broken() -> Verdict:
    """A step size above 2/L."""
    return verdict(200, 8, 0, step=2.1)


def near() -> Near:
    """Other step sizes: 2/L is the limit, and 1/L sets the number of steps."""
    return {
        f"η = {step}/L": partial(verdict, 200, 8, 0, step=step) for step in (0.8, 0.9, 1.9, 2.0)
    }


def verdict(examples: int, inputs: int, seed: int, step: float) -> Verdict:
    """Distances from the solution along the way."""
    generator = torch.Generator().manual_seed(seed)
    scales = torch.linspace(1, 2, inputs, dtype=torch.float64)
    x = scales * torch.randn(examples, inputs, generator=generator, dtype=torch.float64)
    y = x.sum(1, keepdim=True) + torch.randn(examples, 1, generator=generator, dtype=torch.float64)
    model = LinearRegression(inputs).double()
    h, start = flattened(model, lambda f: losses.squared(f(x), y).mean())
    model.solve(x, y)
    solution = flattened(model, lambda f: f(x).sum())[1]
    with_one = torch.cat([x, torch.ones_like(y)], 1)
    curvatures = torch.linalg.eigvalsh(with_one.T @ with_one / examples)
    rate = 1 - (curvatures[0] / curvatures[-1]).item()
    steps = math.ceil(math.log(TARGET) / math.log(rate)) if rate else 1
    path = gradient_descent(h, start, steps, step * safe_rate(h, start))
    distances = (path - solution).norm(dim=1) / (start - solution).norm()
    shown = range(0, steps + 1, max(steps // 30, 1))
    return Verdict(
        quantity="‖θ_t - θ*‖ / ‖θ_0 - θ*‖ at the last step",
        measured=distances[-1].item(),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Gradient descent converges to the least-squares solution",
            x_label="steps",
            y_label="relative distance from the closed form",
            points={
                "gradient descent": (
                    [float(t) for t in shown],
                    [distances[t].item() for t in shown],
                )
            },
            bounds={"(1 - μ/L)ᵗ": ([0.0, float(steps)], [1.0, rate**steps])},
            log="y",
        ),
        details={"L / μ": 1 / (1 - rate), "steps": float(steps)},
    )

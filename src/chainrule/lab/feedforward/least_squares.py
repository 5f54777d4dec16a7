"""Claim: gradient descent converges to the closed-form solution of least squares (J 2.1).

    h(θ) = 1/2s Σ_i (wᵀx_i + b - y_i)²,   H = 1/s Σ_i (x_i, 1)(x_i, 1)ᵀ = Σ_k λ_k v_k v_kᵀ
    v_kᵀ(θ_t - θ*) = (1 - η λ_k)ᵗ v_kᵀ(θ_0 - θ*)     ⇒   ‖θ_t - θ*‖ ≤ (1 - μ/L)ᵗ ‖θ_0 - θ*‖

with η = 1/L, L and μ the largest and the smallest λ_k, and θ* found by singular values.
Measured: along the whole path, the largest difference between ‖θ_t - θ*‖ and its prediction,
relative to the prediction. The path ends when the bound, which is met in direction μ, is 1e-6.
Bound: 1e-7; the distance has lost six of its sixteen digits by then.
Gauss (1809). The notes take examples as columns, X ∈ ℝᵈˣˢ, for which their (XᵀX)⁻¹Xᵀy should read
(XXᵀ)⁻¹Xy.
"""

import math
from functools import partial

import torch

from chainrule.autodiff.curvature import flattened, gradient_descent
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-7
TARGET = 1e-6


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
    return verdict(examples, inputs, seed)


def broken() -> Verdict:
    """A step size above 2/L."""
    return verdict(200, 8, 0, step=2.1)


def near() -> Near:
    """Other step sizes than predicted, and a solution that misses by a ten-thousandth."""
    return {
        **ten_percent("η", lambda factor: verdict(200, 8, 0, step=factor)),
        "η = 2/L": partial(verdict, 200, 8, 0, step=2.0),
        "θ* × 1.0001": partial(verdict, 200, 8, 0, off=1.0001),
    }


def verdict(examples: int, inputs: int, seed: int, step: float = 1.0, off: float = 1.0) -> Verdict:
    """Distances from the solution along the way; `step` times the step size, `off` times θ*."""
    generator = torch.Generator().manual_seed(seed)
    scales = torch.linspace(1, 2, inputs, dtype=torch.float64)
    x = scales * torch.randn(examples, inputs, generator=generator, dtype=torch.float64)
    y = x.sum(1, keepdim=True) + torch.randn(examples, 1, generator=generator, dtype=torch.float64)
    model = LinearRegression(inputs).double()
    h, start = flattened(model, lambda f: losses.squared(f(x), y).mean())
    model.solve(x, y)
    solution = off * flattened(model, lambda f: f(x).sum())[1]
    with_one = torch.cat([x, torch.ones_like(y)], 1)
    curvatures, axes = torch.linalg.eigh(with_one.T @ with_one / examples)
    L, mu = curvatures[-1].item(), curvatures[0].item()
    steps = math.ceil(math.log(TARGET) / math.log(1 - mu / L)) if mu < L else 1
    path = gradient_descent(h, start, steps, step / L)
    distances = (path - solution).norm(dim=1)
    t = torch.arange(steps + 1, dtype=torch.float64)[:, None]
    predicted = ((1 - curvatures / L) ** t * ((start - solution) @ axes)).norm(dim=1)
    wrong = ((distances - predicted).abs() / predicted).max().item()
    shown = range(0, steps + 1, max(steps // 30, 1))
    first = distances[0]
    return Verdict(
        quantity="largest relative |‖θ_t - θ*‖ - predicted|",
        measured=wrong,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Gradient descent converges to the least-squares solution",
            x_label="steps",
            y_label="relative distance from the closed form",
            curves={
                "gradient descent": (t[:, 0].tolist(), (predicted / first).tolist()),
            },
            points={
                "gradient descent": (
                    [float(t) for t in shown],
                    [(distances[t] / first).item() for t in shown],
                )
            },
            bounds={"(1 - μ/L)ᵗ": ([0.0, float(steps)], [1.0, (1 - mu / L) ** steps])},
            log="y",
        ),
        details={"L / μ": L / mu, "steps": float(steps)},
    )

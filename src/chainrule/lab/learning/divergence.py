"""Claim: gradient descent converges on a quadratic for η < 2/L and diverges above (J 3.2).

    θ_0 - θ* = Σ_i c_i e_i   ⇒   ‖θ_T - θ*‖² = Σ_i (1 - ηλ_i)^{2T} c_i²,          L = max λ_i

Measured: the distance from the minimum after T steps of the library's gradient descent on least
squares with inputs of unequal scale, for ηL from 0.1 to 2.4, against the formula; the largest
relative difference, and 1 where the distance along the steepest axis has grown below 2/L or shrunk
above. L comes from the library's power iteration.
Bound: 1e-8, rounding: distances stay above 1e-3 of ‖θ*‖, L is right to 1e-12, and T factors of at
most 1.4 each add a few 1e-16.
Polyak (1963).
"""

import torch
from torch import Tensor

from chainrule.autodiff.curvature import flattened, gradient_descent, largest_curvature
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-8


def check(steps: int = 40, inputs: int = 5, seed: int = 0) -> Verdict:
    """The limit at 2/L.

    Args:
        steps: Steps T.
        inputs: Input dimension, at least 2.
    """
    return verdict(steps, inputs, seed, limit=2.0)


def broken() -> Verdict:
    """A limit at 1/L, which is safe but not the limit."""
    return verdict(40, 5, 0, limit=1.0)


def near() -> Near:
    """Another limit."""
    return ten_percent("2/L", lambda factor: verdict(40, 5, 0, limit=2 * factor))


def verdict(steps: int, inputs: int, seed: int, limit: float) -> Verdict:
    """Distances after T steps by the step size."""
    if inputs < 2:
        raise InputError(f"`inputs` must be at least 2 for two curvatures, got {inputs}")
    generator = torch.Generator().manual_seed(seed)
    scales = torch.logspace(0, -1, inputs, dtype=torch.float64)
    x = scales * torch.randn(8 * inputs, inputs, dtype=torch.float64, generator=generator)
    y = torch.randn(8 * inputs, 1, dtype=torch.float64, generator=generator)
    model = LinearRegression(inputs, bias=False).double()
    model.solve(x, y)
    h, best = flattened(model, lambda f: losses.squared(f(x), y).mean())
    eigenvalues, axes = torch.linalg.eigh(x.T @ x / len(x))
    start = best + axes.sum(1)  # c_i = 1
    L = largest_curvature(h, start, tolerance=1e-9, max_steps=10_000).largest

    def offset(rate: float) -> Tensor:
        return axes.T @ (gradient_descent(h, start, steps, rate / L)[-1] - best)

    def formula(rate: float) -> float:
        return (1 - rate / L * eigenvalues).pow(2 * steps).sum().sqrt().item()

    rates = [step / 10 for step in range(1, 25) if step != 20]
    offsets = [offset(rate) for rate in rates]
    distances = [found.norm().item() for found in offsets]
    differences = [
        abs(far / formula(rate) - 1) if (found[-1].abs() < 1) == (rate < limit) else 1.0
        for rate, found, far in zip(rates, offsets, distances, strict=True)
    ]
    fine = [step / 40 for step in range(4, 97)]
    return Verdict(
        quantity="largest relative |distance - formula|",
        measured=max(differences),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Gradient descent diverges above η = 2/L",
            x_label="step size in units of 1/L, ηL",
            y_label=f"distance from the minimum after {steps} steps",
            curves={"predicted": (fine, [formula(rate) for rate in fine])},
            points={"least squares": (rates, distances)},
            marks={f"η = {limit:g}/L": limit},
            bounds={"at the start": ([0.1, 2.4], [formula(0.0)] * 2)},
            log="y",
        ),
        details={"L by power iteration": L, "largest eigenvalue": eigenvalues[-1].item()},
    )

"""Claim: a step of gradient descent with η < 2/L decreases an L-smooth function (J 3.2).

    h(θ - η ∇h) ≤ h(θ) - η (1 - Lη/2) ‖∇h‖²,          at η = 1/L:  h(θ) - ‖∇h‖² / 2L

Measured: how far single steps of the library's gradient descent fall short of that decrease, in
units of ‖∇h‖²/L, on sigmoid units with squared loss, which are not convex, and along the steepest
axis of a quadratic, for ηL from 0 to 2; the largest value.
Bound: 0, with 1e-9 for rounding, since a decrease is a difference of two numbers of size h. The
quadratic must attain it.
J prints the decrease with = instead of ≤, which holds only along that axis, and ‖h‖² for ‖∇h‖² in
the derivation.
"""

from functools import partial

import torch
from torch.func import grad

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.smooth import Smooth, sigmoid_unit

ROUNDING = 1e-9
RATES = [step / 8 for step in range(1, 17)]  # times 1/L


def check(problems: int = 20, seed: int = 0) -> Verdict:
    """The true L.

    Args:
        problems: Random sigmoid units.
    """
    return verdict(problems, seed, scale=1.0)


def broken() -> Verdict:
    """Half the true L."""
    return verdict(5, 0, scale=0.5)


def near() -> Near:
    """Slightly less than the true L, or more."""
    return {f"L × {scale}": partial(verdict, 5, 0, scale=scale) for scale in (0.9, 0.99, 1.01, 1.1)}


def verdict(places: int, seed: int, scale: float) -> Verdict:
    """Decreases against η (1 - Lη/2) ‖∇h‖²."""
    generator = torch.Generator().manual_seed(seed)
    axes = torch.tensor([3.0, 1.0, 0.1], dtype=torch.float64)
    steepest = torch.tensor([2.0, 0.0, 0.0], dtype=torch.float64)
    quadratic = Smooth(lambda theta: 0.5 * (axes * theta**2).sum(), steepest, 3.0)
    on_quadratic = [decrease(quadratic, scale, rate) for rate in RATES]
    units = [sigmoid_unit(generator) for _ in range(places)]
    on_units = [[decrease(unit, scale, rate) for rate in RATES] for unit in units]
    shortest = max(
        allowed(rate) - found
        for decreases in [on_quadratic, *on_units]
        for rate, found in zip(RATES, decreases, strict=True)
    )
    spare = max(found - allowed(rate) for rate, found in zip(RATES, on_quadratic, strict=True))
    x = [rate for _ in on_units for rate in RATES]
    fine = [step / 20 for step in range(41)]
    return Verdict(
        quantity="largest shortfall of the decrease, units of ‖∇h‖²/L",
        measured=shortest,
        relation="≤",
        bound=ROUNDING,
        conditions={"attained along the steepest axis": spare <= ROUNDING},
        picture=Picture(
            title="Every step below 2/L decreases h by at least the parabola",
            x_label="step size in units of 1/L, ηL",
            y_label="decrease of h in units of ‖∇h‖²/L",
            points={
                "steepest axis of a quadratic": (RATES, on_quadratic),
                "sigmoid units": (x, [found for row in on_units for found in row]),
            },
            bounds={"ηL (1 - ηL/2)": (fine, [allowed(rate) for rate in fine])},
            marks={"η = 1/L": 1.0, "η = 2/L": 2.0},
        ),
    )


def allowed(rate: float) -> float:
    """The least decrease at η = rate / L."""
    return rate * (1 - rate / 2)


def decrease(smooth: Smooth, scale: float, rate: float) -> float:
    """(h(θ) - h(θ - η ∇h)) L / ‖∇h‖² at η = rate / L."""
    L = scale * smooth.L
    before, after = gradient_descent(smooth.h, smooth.start, 1, rate / L)
    fallen = smooth.h(before) - smooth.h(after)
    return (fallen * L / grad(smooth.h)(before).square().sum()).item()

"""Claim: within 2L (h(θ⁰) - h*) / ε² steps of size 1/L, some gradient is at most ε (J 3.2).

    Σ_{t<T} ‖∇h(θ_t)‖² / 2L  ≤  h(θ⁰) - h*     ⇒     min_{t<T} ‖∇h(θ_t)‖²  ≤  2L (h(θ⁰) - h*) / T

Measured: steps of the library's gradient descent until ‖∇h‖ ≤ ε, divided by the bound, on sigmoid
units with squared loss, which are not convex, and on a Huber function of slope ε, which needs half
the bound; the largest ratio.
Bound: 1, by the lemma whose proof J leaves open: add up the sufficient decreases. 0 ≤ h* is used
for h*.
Nesterov (2004), section 1.2.3.
"""

import math
from collections.abc import Sequence

import torch
from torch.func import grad, vmap

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Picture, Verdict
from chainrule.lab.helpers.smooth import Smooth, huber, sigmoid_unit

ALLOWED = (10, 30, 100, 300, 1000)  # steps; ε follows


def check(units: int = 3, seed: int = 0) -> Verdict:
    """The bound with ε².

    Args:
        units: Random sigmoid units.
    """
    return verdict(units, seed, power=2)


def broken() -> Verdict:
    """The bound with ε, as if the gradient fell like 1/T."""
    return verdict(1, 0, power=1)


def verdict(units: int, seed: int, power: int) -> Verdict:
    """Steps needed against steps allowed."""
    generator = torch.Generator().manual_seed(seed)
    valleys = [valley(math.sqrt(2 / steps)) for steps in ALLOWED]
    in_valleys = [needed(v, [A], power)[0] for v, A in zip(valleys, ALLOWED, strict=True)]
    smooths = [sigmoid_unit(generator) for _ in range(units)]
    on_units = [pair for unit in smooths for pair in needed(unit, ALLOWED, power)]
    worst = max(steps / allowed for allowed, steps in in_valleys + on_units)
    span = [float(ALLOWED[0]), float(ALLOWED[-1])]
    return Verdict(
        quantity="largest steps / (2L (h(θ⁰) - h*) / ε²)",
        measured=worst,
        relation="≤",
        bound=1.0,
        picture=Picture(
            title="A small gradient is found within the bound; a linear slope needs half of it",
            x_label="steps allowed, 2L (h(θ⁰) - h*) / ε²",
            y_label="steps needed until ‖∇h‖ ≤ ε",
            points={
                "Huber function": transposed(in_valleys),
                "sigmoid units": transposed([pair for pair in on_units if pair[1] > 0]),
            },
            bounds={"the bound": (span, span)},
            log="xy",
        ),
    )


def valley(slope: float) -> Smooth:
    """h(θ⁰) = 1, on a linear part slightly steeper than the slope."""
    bend = 1.001 * slope
    return huber(start=1 / bend + bend / 2, bend=bend)


def needed(smooth: Smooth, allowed: Sequence[int], power: int) -> list[tuple[float, float]]:
    """2L h(θ⁰) / ε^power and the steps until ‖∇h‖ ≤ ε, for ε² = 2L h(θ⁰) / allowed."""
    height = 2 * smooth.L * smooth.h(smooth.start).item()
    path = gradient_descent(smooth.h, smooth.start, max(allowed), 1 / smooth.L)
    sizes = vmap(grad(smooth.h))(path).reshape(len(path), -1).norm(dim=1)
    found = []
    for epsilon in (math.sqrt(height / steps) for steps in allowed):
        reached = (sizes <= epsilon).nonzero()
        found.append((height / epsilon**power, float(reached[0]) if len(reached) else math.inf))
    return found


def transposed(pairs: list[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in pairs], [y for _, y in pairs]

"""Claim: the activations, their slopes, and which of them are bounded (A 1.2, fig. 1.6; J 2.2).

    step 0,   identity 1,   sigmoid σ(z) σ(-z),   tanh 1 - tanh²(z),   ReLU 1{z > 0}
    leaky ReLU 0.01 or 1,   softplus σ(z),   GELU Φ(z) + z e^(-z²/2) / √(2π)       slope φ'(z) = …

Measured: for every activation of the library and z from -50 to 50, the largest difference between
the formula of the slope and what autograd computes.
Bound: 1e-8; softplus is taken as z beyond 20, where e⁻²⁰ = 2e-9 is left out. Step, sigmoid and
tanh must stay within [-1, 1]; all others must exceed 40 at z = 50.
A's caption calls tanh and ReLU bounded; ReLU is not. The picture shows the activations with
their slopes; those of identity and leaky ReLU are left out.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.activations import ACTIVATIONS

BOUND = 1e-8
DRAWN = ("step", "sigmoid", "tanh", "relu", "softplus", "gelu")
BOUNDED = frozenset({"step", "sigmoid", "tanh"})
SLOPES: dict[str, Callable[[Tensor], Tensor]] = {
    "step": torch.zeros_like,
    "identity": torch.ones_like,
    "sigmoid": lambda z: z.sigmoid() * (-z).sigmoid(),
    "tanh": lambda z: 1 - z.tanh() ** 2,
    "relu": lambda z: (z > 0).double(),
    "leaky_relu": lambda z: torch.where(z > 0, 1.0, 0.01).double(),
    "softplus": torch.sigmoid,
    "gelu": lambda z: torch.special.ndtr(z) + z * (-(z**2) / 2).exp() / math.sqrt(2 * math.pi),
}


def check(points: int = 500) -> Verdict:
    """Every activation.

    Args:
        points: Values of z on each side of zero.
    """
    return verdict(points, BOUNDED)


def broken() -> Verdict:
    """As in the caption: ReLU among the bounded ones."""
    return verdict(500, BOUNDED | {"relu"})


def near() -> Near:
    """Slopes off by 10 %."""
    return ten_percent("φ'", lambda factor: verdict(500, BOUNDED, factor))


def verdict(points: int, bounded: frozenset[str], factor: float = 1.0) -> Verdict:
    """Slopes by autograd against `factor` times the formulas."""
    z = torch.linspace(-50, 50, 2 * points, dtype=torch.float64)  # an even number: never zero
    wrong = max(
        (slope(name, z) - factor * SLOPES[name](z)).abs().max().item() for name in ACTIVATIONS
    )
    largest = {name: phi(z).abs().max().item() for name, phi in ACTIVATIONS.items()}
    shown = torch.linspace(-2.5, 2.5, 122, dtype=torch.float64)
    return Verdict(
        quantity="largest |φ'(z) by autograd - formula|",
        measured=wrong,
        relation="≤",
        bound=BOUND,
        conditions={
            "bounded by 1": all(largest[name] <= 1 for name in bounded),
            "the others unbounded": all(largest[name] > 40 for name in set(largest) - bounded),
        },
        picture=Picture(
            title="Activations (lines) and their slopes (points)",
            x_label="input of the unit, z",
            y_label="φ(z), and φ'(z)",
            curves={name: (shown.tolist(), ACTIVATIONS[name](shown).tolist()) for name in DRAWN},
            points={
                f"slope of {name}": (shown[::6].tolist(), slope(name, shown)[::6].tolist())
                for name in DRAWN
            },
        ),
        details={f"largest |φ|, {name}": value for name, value in largest.items()},
    )


def slope(name: str, z: Tensor) -> Tensor:
    """φ'(z), by autograd."""
    z = z.clone().requires_grad_()
    return torch.autograd.grad(ACTIVATIONS[name](z).sum(), z)[0]

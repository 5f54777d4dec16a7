"""Claim: one hidden layer approximates as closely as desired, given enough units (J 2.4, J 2.5).

    sigmoids, g = f(0) + Σ_i (f(x_i) - f(x_{i-1})) σ((x - c_i) / τ):     |f - g| ≤ 1.01 Lip(f) / m
    ReLUs,    g = f through m + 1 knots:                                 |f - g| ≤ max |f''| / 8m²

c_i lies halfway between the knots x_{i-1} and x_i of [0, 1], and τ = 1/20m: m smooth steps, of
which at most one is in transition at any x.
Measured: the largest error at 2001 points divided by its bound, for up to `width` units.
Bound: 1; the first inequality sums the tails of the steps, the second is that of linear
interpolation.
J's theorem 2.5 asks for a φ that is not a polynomial. Cybenko (1989); Leshno et al. (1993).
"""

import math
from functools import partial

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.relu_interpolant import ReLUInterpolant

LIPSCHITZ = 2 * math.pi + 3 * math.pi  # of f below: the sum of the largest slopes
CURVATURE = (2 * math.pi) ** 2 + 0.5 * (6 * math.pi) ** 2


def check(width: int = 512) -> Verdict:
    """Sigmoids and ReLUs.

    Args:
        width: Hidden units of the widest networks.
    """
    return verdict(width, activation="sigmoid")


def broken() -> Verdict:
    """A polynomial instead of the sigmoid: the identity."""
    return verdict(32, activation="identity")


def near() -> Near:
    """Smaller bounds than the theorems give."""
    return {
        f"the bounds × {scale}": partial(verdict, 64, "sigmoid", scale) for scale in (0.95, 0.9)
    }


def verdict(width: int, activation: str, scale: float = 1.0) -> Verdict:
    """Largest errors by the number of units."""
    widths = [2**k for k in range(int(math.log2(width)) + 1)]
    stairs = [error(staircase(m, activation)) for m in widths]
    straight = [error(interpolant(m)) for m in widths]
    by_stairs = [scale * 1.01 * LIPSCHITZ / m for m in widths]
    by_pieces = [scale * CURVATURE / 8 / m**2 for m in widths]
    worst = max(
        found / bound for found, bound in zip(stairs + straight, by_stairs + by_pieces, strict=True)
    )
    x = [float(m) for m in widths]
    return Verdict(
        quantity="largest error / its bound",
        measured=worst,
        relation="≤",
        bound=1.0,
        picture=Picture(
            title="The largest error goes to zero as units are added",
            x_label="hidden units m",
            y_label="largest error on [0, 1]",
            points={"sigmoids": (x, stairs), "ReLUs": (x, straight)},
            bounds={"Lip(f) / m": (x, by_stairs), "max |f''| / 8m²": (x, by_pieces)},
            log="xy",
        ),
        details={f"sigmoids, {widths[-1]} units": stairs[-1]},
    )


def f(x: Tensor) -> Tensor:
    """A function with hills and valleys."""
    return (2 * math.pi * x).sin() + 0.5 * (6 * math.pi * x).cos()


@torch.random.fork_rng()
@torch.no_grad()
def staircase(m: int, activation: str) -> MLP:
    """f(0) + Σ_i (f(x_i) - f(x_{i-1})) φ(20 m (x - c_i))."""
    knots = torch.linspace(0, 1, m + 1, dtype=torch.float64)
    steep, centers = 20.0 * m, (knots[1:] + knots[:-1]) / 2
    network = MLP(1, [m], 1, activation, initialization="zero").double()
    values = (torch.full((m, 1), steep), -steep * centers, f(knots).diff()[None], f(knots[:1]))
    for parameter, value in zip(network.parameters(), values, strict=True):
        parameter.copy_(value)
    return network


def interpolant(m: int) -> ReLUInterpolant:
    """m straight pieces: m - 1 ReLUs and a line."""
    knots = torch.linspace(0, 1, m + 1, dtype=torch.float64)
    return ReLUInterpolant(knots, f(knots))


@torch.no_grad()
def error(network: nn.Module) -> float:
    x = torch.linspace(0, 1, 2001, dtype=torch.float64)[:, None]
    return (network(x) - f(x)).abs().max().item()

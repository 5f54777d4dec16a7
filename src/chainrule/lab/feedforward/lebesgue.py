"""Claim: a continuous piecewise linear function of m pieces is m - 1 ReLUs (J 2.5, theorem 2.11).

    g(x) = a x + b + Σ_{i=1}^{m-1} c_i (x - x_i)₊

Measured: the largest difference between random piecewise linear functions and their networks, at
random points of the interval, relative to |a| + |b| + Σ |c_i|.
Bound: 1e-13, about a hundred roundings in double precision. The network for m pieces must also have
m - 1 units.
The theorem in J does not ask for continuity, without which the formula fails.
"""

from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.relu_interpolant import ReLUInterpolant

ROUNDING = 1e-13


def check(functions: int = 50, pieces: int = 12, points: int = 400, seed: int = 0) -> Verdict:
    """Continuous functions.

    Args:
        functions: Random piecewise linear functions.
        pieces: Linear pieces m.
        points: Random points at which both are compared.
    """
    return verdict(functions, pieces, points, seed, jump=0.0)


def broken() -> Verdict:
    """A function with a jump in the middle."""
    return verdict(1, 12, 400, 0, jump=1.0)


def near() -> Near:
    """Functions with a small jump."""
    return {
        f"a jump of {jump}": partial(verdict, 1, 12, 400, 0, jump=jump) for jump in (1e-3, 1e-6)
    }


@torch.no_grad()
def verdict(functions: int, pieces: int, places: int, seed: int, jump: float) -> Verdict:
    """Functions through random points against their networks."""
    generator = torch.Generator().manual_seed(seed)
    worst, units = 0.0, True
    for _ in range(functions):
        gaps = 0.2 + torch.rand(pieces, generator=generator, dtype=torch.float64)
        knots = torch.cat([torch.zeros(1), gaps.cumsum(0)]) / gaps.sum()
        values = torch.randn(pieces + 1, generator=generator, dtype=torch.float64)
        network = ReLUInterpolant(knots, values)
        x = torch.rand(places, 1, generator=generator, dtype=torch.float64)
        g = linear_between(knots, values, x[:, 0]) + jump * (x[:, 0] > 0.5)
        size = sum(p.abs().sum() for name, p in network.named_parameters() if name != "knots")
        worst = max(worst, ((network(x)[:, 0] - g).abs().max() / size).item())
        units &= len(network.c) == pieces - 1
    shown = torch.linspace(0, 1, 41, dtype=torch.float64)[:, None]
    return Verdict(
        quantity="largest relative |network - function|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"m pieces take m - 1 units": units},
        picture=Picture(
            title=f"{pieces} linear pieces are {pieces - 1} ReLUs",
            x_label="x",
            y_label="g(x)",
            curves={"piecewise linear function": (knots.tolist(), values.tolist())},
            points={"network": (shown[:, 0].tolist(), network(shown)[:, 0].tolist())},
        ),
        details={"functions": float(functions)},
    )


def linear_between(knots: Tensor, values: Tensor, x: Tensor) -> Tensor:
    """The function through the points, by the piece that x lies in."""
    i = torch.searchsorted(knots, x).clamp(1, len(knots) - 1)
    share = (x - knots[i - 1]) / (knots[i] - knots[i - 1])
    return torch.lerp(values[i - 1], values[i], share)

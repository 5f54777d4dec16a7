"""Claim: m units, chosen one by one, reach a squared error of (2 r C_f)² / m (J 2.4).

    C_f = ∫ ‖w‖ |f̂(w)| dw < ∞    ⇒    some g_m:  ∫_{‖x‖≤r} (f - f(0) - g_m)² dμ ≤ (2 r C_f)² / m
    greedy:  g_m = (1 - α) g_{m-1} + α s,   the best α ∈ [0, 1] and unit s = ±2 r C_f 1{uᵀx > t}

Barron's proof: f - f(0) lies in the closed convex hull of the units s, whose norm is at most b, and
the greedy network then has ‖f - f(0) - g_m‖² ≤ (b² - ‖f - f(0)‖²) / m, b = 2 r C_f.
Targets: f(x) = Σ_k a_k cos(w_kᵀx + p_k) in n = 1, 5 and 20 dimensions, with C_f = Σ_k |a_k| ‖w_k‖
= π exactly; μ is the uniform distribution on points of the unit ball, r = 1. And one that meets the
bound: the mean of n orthogonal units 1{x_i > ½} on the n unit vectors, with error b² (1/m - 1/n).
Measured: the squared error of the network divided by (b² - ‖f - f(0)‖²) / m, the largest for all m
up to `width`.
Bound: 1, reached by the orthogonal units at m = 1; 1e-9 for rounding. The error must also fall at
least like m^(-0.85) in every dimension.
J does not define C_f, and calls the bound independent of n. C_f is not: that of exp(-‖x‖²/2) is
√2 Γ((n + 1)/2) / Γ(n/2) ≈ √n. Jones (1992); Barron (1993), IEEE Transactions on Information Theory
39(3).
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from scipy.stats import chi
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP

C = math.pi
DIMENSIONS = (1, 5, 20)
WAVES = 3
CORNERS = 64
EXPONENT = -0.85


class Problem(NamedTuple):
    """Points, f - f(0) at them, and units 1{u_jᵀx > t_j} to be scaled, by ± if signed."""

    x: Tensor
    f: Tensor
    u: Tensor
    t: Tensor
    scale: float
    b: float
    signed: bool = True


def check(width: int = 256, points: int = 200, seed: int = 0) -> Verdict:
    """Units in all directions of the target.

    Args:
        width: Hidden units m of the widest networks, at least 16.
        points: Points of the unit ball.
    """
    return verdict(width, points, seed)


def broken() -> Verdict:
    """Units in other directions than those of the target."""
    return verdict(256, 200, 0, turned=True)


def near() -> Near:
    """A smaller bound than the theorem's."""
    return {
        "the bound × 0.9": partial(verdict, 256, 200, 0, factor=0.9),
        "b² - ‖f‖² with b × 0.95": partial(verdict, 256, 200, 0, shorter=0.95),
    }


def verdict(
    width: int,
    points: int,
    seed: int,
    turned: bool = False,
    factor: float = 1.0,
    shorter: float = 1.0,
) -> Verdict:
    """Errors by dimension and number of units."""
    generator = torch.Generator().manual_seed(seed)
    widths = [2**k for k in range(int(math.log2(width)) + 1)]
    problems = {f"n = {n}": waves(n, points, generator, turned) for n in DIMENSIONS}
    problems["orthogonal units"] = corners()
    errors, shares = {}, {}
    for name, problem in problems.items():
        shown = [m for m in widths if m < len(problem.t)]
        errors[name] = [squared_error(g, problem) for g in greedy(problem, shown)]
        constant = factor * ((shorter * problem.b) ** 2 - problem.f.square().mean().item())
        shares[name] = [m * e / constant for m, e in zip(shown, errors[name], strict=True)]
    exponents = [
        np.polyfit(np.log(widths[2:]), np.log(errors[f"n = {n}"][2:]), 1)[0] for n in DIMENSIONS
    ]
    m = [float(k) for k in widths]
    tight = [problems["orthogonal units"].b ** 2 * (1 / k - 1 / CORNERS) for k in m if k < CORNERS]
    return Verdict(
        quantity="largest squared error / ((b² - ‖f - f(0)‖²) / m)",
        measured=max(map(max, shares.values())),
        relation="≤",
        bound=1 + 1e-9,
        conditions={
            "the error falls like 1/m in every dimension": bool(max(exponents) <= EXPONENT)
        },
        picture=Picture(
            title="The squared error falls like 1/m in 1 dimension and in 20",
            x_label="hidden units m",
            y_label="mean squared error",
            curves={"orthogonal units": (m[: len(tight)], tight)},
            points={
                name: (m[: len(errors[name])], errors[name])
                for name in ("orthogonal units", *(f"n = {n}" for n in DIMENSIONS))
            },
            bounds={"(2 r C_f)² / m, waves": (m, [(2 * C) ** 2 / k for k in m])},
            log="xy",
        ),
        details={
            **{f"share of the bound, {name}": max(found) for name, found in shares.items()},
            "slowest exponent of m": float(max(exponents)),
            **{f"C_f of exp(-‖x‖²/2), n = {n}": float(chi(n).mean()) for n in DIMENSIONS},
        },
    )


def waves(n: int, points: int, generator: torch.Generator, turned: bool) -> Problem:
    """Cosines with Σ |a_k| ‖w_k‖ = C, and units in their directions between all points."""
    draw = partial(torch.rand, generator=generator, dtype=torch.float64)
    normal = partial(torch.randn, generator=generator, dtype=torch.float64)
    direction = torch.nn.functional.normalize(normal(points, n), dim=1)
    x = draw(points, 1) * direction
    u = torch.nn.functional.normalize(normal(WAVES, n), dim=1)
    length, a, phase = 2 + 2 * draw(WAVES), 1 + draw(WAVES), 2 * math.pi * draw(WAVES)
    a = a * C / (a * length).sum()
    f = (a * ((x @ u.T * length + phase).cos() - phase.cos())).sum(1)
    if turned:  # each direction to one at a right angle, or to no direction at all
        u = torch.zeros_like(u) if n == 1 else u.roll(1, 1) - (u.roll(1, 1) * u).sum(1)[:, None] * u
    z = (x @ u.T).T.sort(1).values
    t = torch.cat([z - 1e-9, z[:, -1:] + 1e-9], 1)  # from all on to all off
    both_u = torch.cat([u, -u]).repeat_interleave(points + 1, 0)
    both_t = torch.cat([t.flatten(), -t.flatten()])
    return Problem(x, f, both_u, both_t, 2 * C, 2 * C)


def corners() -> Problem:
    """The mean of n units, each of which is on at one of the n unit vectors."""
    x = torch.eye(CORNERS, dtype=torch.float64)
    f = torch.ones(CORNERS, dtype=torch.float64) / CORNERS
    return Problem(x, f, x, torch.full((CORNERS,), 0.5).double(), 1.0, CORNERS**-0.5, False)


def greedy(problem: Problem, widths: list[int]) -> list[MLP]:
    """The networks of these widths on the way: every step takes the unit that helps most."""
    x, f, u, t, scale, _, signed = problem
    on = scale * (x @ u.T > t).double()
    units = torch.cat([on, -on], 1) if signed else on
    squares, along = units.square().sum(0), f @ units
    g, chosen, outer = torch.zeros_like(f), [], torch.zeros(0, dtype=torch.float64)
    found = []
    for m in range(1, max(widths) + 1):
        # ‖f - (1 - α) g - α s‖² is least at α = (f - g)ᵀ(s - g) / ‖s - g‖²
        inner = along - g @ units - (f - g) @ g
        length = squares - 2 * g @ units + g @ g
        alpha = (inner / length.clamp(min=1e-12)).clamp(0, 1) if m > 1 else torch.ones_like(inner)
        j = int((alpha**2 * length - 2 * alpha * inner).argmin())
        g = (1 - alpha[j]) * g + alpha[j] * units[:, j]
        sign = 1.0 if j < len(t) else -1.0
        outer = torch.cat([(1 - alpha[j]) * outer, (alpha[j] * sign * scale)[None]])
        chosen.append(j % len(t))
        if m in widths:
            found.append(network(u[chosen], t[chosen], outer))
    return found


@torch.random.fork_rng()
@torch.no_grad()
def network(u: Tensor, t: Tensor, outer: Tensor) -> MLP:
    """Σ_i v_i 1{u_iᵀx > t_i}."""
    model = MLP(u.shape[1], [len(t)], 1, "step", initialization="zero").double()
    values = (u, -t, outer[None], torch.zeros(1))
    for parameter, value in zip(model.parameters(), values, strict=True):
        parameter.copy_(value)
    return model.requires_grad_(False)


def squared_error(g: MLP, problem: Problem) -> float:
    return (problem.f - g(problem.x)[:, 0]).square().mean().item()

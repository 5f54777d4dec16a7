"""Claim: m units reach a squared error of (2 r C_f)² / m in any dimension (J 2.4).

    C_f = ∫ ‖w‖ |f̂(w)| dw < ∞    ⇒    some g_m:  ∫_{‖x‖≤r} (f - g_m)² dμ ≤ (2 r C_f)² / m

Target: f(x) = exp(-s² ‖x‖² / 2) = E cos(wᵀx) with w ~ N(0, s² I), s chosen so that C_f = s E χ_n =
π in every dimension n. Barron's units: g_m = 1 - 2C_f/m Σ_i sin(‖w_i‖ t_i) 1{w_iᵀx > ‖w_i‖ t_i},
w_i drawn with weight ‖w‖ and t_i uniform in [0, 1]; their mean is f on the unit ball, r = 1.
Measured: the mean squared error of such networks divided by the bound, the largest for n = 1 … 20
and m up to `width`.
Bound: 1, by the theorem, which these networks satisfy on average. The exponent of m must also lie
within 0.3 of -1 in every dimension, more than six standard errors.
A fixed grid of m cells gains only m^(-2/n). Barron (1993), IEEE Transactions on Information Theory
39(3).
"""

import math

import numpy as np
import torch
from scipy.stats import chi
from torch import Tensor

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.feedforward.mlp import MLP

C = math.pi
DIMENSIONS = (1, 5, 20)
MANY = 5000
EXPONENT = 0.3


def check(width: int = 256, networks: int = 40, points: int = 100, seed: int = 0) -> Verdict:
    """Units drawn independently.

    Args:
        width: Hidden units m of the widest networks.
        networks: Random networks for each dimension and width.
        points: Points of the unit ball at which errors are measured.
    """
    return verdict(width, networks, points, seed, different=width)


def broken() -> Verdict:
    """Only four units are drawn; the others are copies."""
    return verdict(256, 20, 100, 0, different=4)


def verdict(width: int, networks: int, points: int, seed: int, different: int) -> Verdict:
    """Errors by dimension and number of units."""
    generator = torch.Generator().manual_seed(seed)
    widths = [4**k for k in range(1, max(round(math.log(width, 4)), 2) + 1)]
    errors: dict[int, list[float]] = {}
    variances: dict[int, float] = {}
    for n in DIMENSIONS:
        x, s = in_ball(points, n, generator), C / chi(n).mean()
        f = torch.exp(-(s**2) * x.square().sum(1) / 2)
        spread = f.var().item()
        variances[n] = unit_variance(network(n, s, MANY, MANY, generator), x)
        errors[n] = []
        for m in widths:
            drawn = [network(n, s, m, different, generator) for _ in range(networks)]
            squared = [(g(x)[:, 0] - f).square().mean().item() for g in drawn]
            errors[n].append(sum(squared) / networks)
    bound = [(2 * C) ** 2 / m for m in widths]
    worst = max(e / b for found in errors.values() for e, b in zip(found, bound, strict=True))
    exponents = [np.polyfit(np.log(widths), np.log(found), 1)[0] for found in errors.values()]
    off = float(max(abs(exponent + 1) for exponent in exponents))
    m_axis = [float(m) for m in widths]
    return Verdict(
        quantity="largest squared error / ((2 r C_f)² / m)",
        measured=worst,
        relation="≤",
        bound=1.0,
        conditions={"the error falls like m⁻¹ in every dimension": off <= EXPONENT},
        picture=Picture(
            title="The squared error falls like 1/m in 1 dimension and in 20",
            x_label="hidden units m",
            y_label="mean squared error",
            curves={f"n = {n}": (m_axis, [v / m for m in m_axis]) for n, v in variances.items()},
            points={f"n = {n}": (m_axis, found) for n, found in errors.items()},
            bounds={
                "(2 r C_f)² / m": (m_axis, bound),
                "m fixed cells, n = 20": (m_axis, [spread * m ** (-2 / 20) for m in widths]),
            },
            log="xy",
        ),
        details={"largest |exponent + 1|": off},
    )


def in_ball(points: int, n: int, generator: torch.Generator) -> Tensor:
    """Random directions, lengths uniform in [0, 1]."""
    direction = torch.randn(points, n, generator=generator, dtype=torch.float64)
    length = torch.rand(points, 1, generator=generator, dtype=torch.float64)
    return length * direction / direction.norm(dim=1, keepdim=True)


def unit_variance(model: MLP, x: Tensor) -> float:
    """Mean over x of the variance of one unit; divided by m, the expected error."""
    W, b, outer, _ = model.parameters()
    return (model.activation(x @ W.T + b) * outer * len(W)).var(1).mean().item()


@torch.random.fork_rng()
@torch.no_grad()
def network(n: int, s: float, m: int, different: int, generator: torch.Generator) -> MLP:
    """g_m; the density ‖w‖ N(w) makes ‖w‖/s a chi variable of n + 1 degrees."""
    copied = torch.arange(m) % different
    u = torch.randn(m, n, generator=generator, dtype=torch.float64)[copied]
    length = s * torch.randn(m, n + 1, generator=generator, dtype=torch.float64).norm(dim=1)[copied]
    t = torch.rand(m, generator=generator, dtype=torch.float64)[copied]
    model = MLP(n, [m], 1, "step", initialization="zero").double()
    outer = -2 * C / m * (length * t).sin()
    values = (u / u.norm(dim=1, keepdim=True), -t, outer[None], torch.ones(1))
    for parameter, value in zip(model.parameters(), values, strict=True):
        parameter.copy_(value)
    return model.requires_grad_(False)

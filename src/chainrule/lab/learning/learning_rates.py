"""Claim: small rates are slow, rates from 2/L on diverge, 2/(L + μ) is best (A 1.3.8).

    h(θ) = ½ Σ_i λ_i θ_i²,   μ = min λ_i,  L = max λ_i
    steps to 10⁻³ of the distance = log 10⁻³ / log max_i |1 - ηλ_i|,  rounded up; never for η ≥ 2/L

Measured: steps of the library's optimizer `gd` until every |θ_i| is at most a thousandth of its
start, for rates from 0.05/L to 2.05/L; the largest difference from the formula, up to `max_steps`
steps.
Bound: 1 step; a power that lands on the threshold may round either way.
The three panels of A's figure 1.7 are the two arms and the minimum of one curve. Polyak (1963).
"""

import math

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.optimizers import optimizer

GOAL = 1e-3
RATES = [0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.3, 1.6, 1.75, 1.85, 1.92, 1.96, 1.98]
TOO_LARGE = [2.02, 2.05]


def check(condition: int = 4, max_steps: int = 1500) -> Verdict:
    """Curvatures from L / `condition` to L.

    Args:
        condition: Condition number L/μ.
        max_steps: Steps after which a run is given up.
    """
    return verdict(float(condition), max_steps, sharpest=1.0)


def broken() -> Verdict:
    """The formula without its largest curvature, as if 2/L were no limit."""
    return verdict(4.0, 300, sharpest=0.5)


def near() -> Near:
    """All curvatures of the formula off by 10 %."""
    return ten_percent("L and μ", lambda factor: verdict(4.0, 300, sharpest=factor))


def verdict(condition: float, limit: int, sharpest: float) -> Verdict:
    """Steps by the rate, with L = 1."""
    curvatures = torch.linspace(1 / condition, 1, 5, dtype=torch.float64)
    rates = [*RATES, *TOO_LARGE]
    found = [steps(curvatures, rate, limit) for rate in rates]
    expected = [formula(curvatures * sharpest, rate, limit) for rate in rates]
    off = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    best = 2 / (1 + 1 / condition)
    fine = [0.05 + step / 100 for step in range(194)]
    return Verdict(
        quantity="largest |steps - formula|",
        measured=off,
        relation="≤",
        bound=1.0,
        picture=Picture(
            title="Small rates are slow, large rates never converge",
            x_label="learning rate in units of 1/L, ηL",
            y_label="steps to a thousandth of the distance",
            curves={"predicted": (fine, [formula(curvatures, rate, limit) for rate in fine])},
            points={"gradient descent": (RATES, found[: len(RATES)])},
            marks={"best: 2/(L + μ)": best, "limit: 2/L": 2.0},
            log="y",
        ),
        details={"steps at the best rate": steps(curvatures, best, limit)},
    )


def formula(curvatures: torch.Tensor, rate: float, limit: int) -> float:
    """log 10⁻³ / log max |1 - ηλ|, rounded up, or the limit."""
    slowest = max((1 - rate * curvatures).abs().max().item(), 1e-300)
    needed = math.log(GOAL) / math.log(slowest) if slowest < 1 else math.inf
    return float(math.ceil(min(needed, limit)))


def steps(curvatures: torch.Tensor, rate: float, limit: int) -> float:
    """Steps that the optimizer takes."""
    theta = nn.Parameter(torch.ones_like(curvatures))
    descent = optimizer("gd", [theta], rate)
    for step in range(limit):
        if theta.detach().abs().max() <= GOAL:
            return float(step)
        theta.grad = curvatures * theta.detach()
        descent.step()
    return float(limit)

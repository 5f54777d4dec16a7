"""Claim: small rates are slow, rates above 2/L diverge, 2/(L + μ) is best (A 1.3.8).

    h(θ) = ½ Σ_i λ_i θ_i²,   μ = min λ_i,  L = max λ_i
    steps to 10⁻³ of the distance = log 10⁻³ / log max_i |1 - ηλ_i|,  rounded up; never for η ≥ 2/L
    near a minimum of any h:  stable for η < 2/L, unstable above,  L = ‖∇²h(θ*)‖₂

Measured: steps of the library's optimizer `gd` until every |θ_i| is at most a thousandth of its
start, for rates from 0.05/L to 2.05/L; the largest difference from the formula, up to `max_steps`
steps. For a small network at a minimum, the rate from which training leaves it, found by bisection,
must be 2/L to 2 %, L by power iteration.
Bound: 1 step; a power that lands on the threshold may round either way.
The three panels of A's figure 1.7 are the two arms and the minimum of one curve. Polyak (1963).
"""

import math

import torch
from torch import Tensor, nn

from chainrule.autodiff.curvature import (
    Function,
    flattened,
    gradient_descent,
    largest_curvature,
)
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.learning.optimizers import optimizer
from chainrule.models.feedforward.mlp import MLP

GOAL = 1e-3
RATES = [0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.3, 1.6, 1.75, 1.85, 1.92, 1.96, 1.98]
TOO_LARGE = [2.02, 2.05]
TOLERANCE = 0.02


def check(condition: int = 4, max_steps: int = 1500, seed: int = 0) -> Verdict:
    """Curvatures from L / `condition` to L.

    Args:
        condition: Condition number L/μ.
        max_steps: Steps after which a run is given up.
    """
    return verdict(float(condition), max_steps, sharpest=1.0, seed=seed)


def broken() -> Verdict:
    """The formula without its largest curvature, as if 2/L were no limit."""
    return verdict(4.0, 300, sharpest=0.5)


def near() -> Near:
    """All curvatures of the formula off by 10 %, and the limit of the network alone."""
    return {
        **ten_percent("L and μ", lambda factor: verdict(4.0, 300, sharpest=factor)),
        **ten_percent("2/L", lambda factor: verdict(4.0, 300, sharpest=1.0, limit=2 * factor)),
    }


def verdict(
    condition: float, max_steps: int, sharpest: float, limit: float = 2.0, seed: int = 0
) -> Verdict:
    """Steps by the rate, with L = 1, and the largest stable rate of a network."""
    curvatures = torch.linspace(1 / condition, 1, 5, dtype=torch.float64)
    rates = [*RATES, *TOO_LARGE]
    found = [steps(curvatures, rate, max_steps) for rate in rates]
    expected = [formula(curvatures * sharpest, rate, max_steps) for rate in rates]
    off = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    best = 2 / (1 + 1 / condition)
    stable = largest_stable_rate(seed)
    fine = [0.05 + step / 100 for step in range(194)]
    return Verdict(
        quantity="largest |steps - formula|",
        measured=off,
        relation="≤",
        bound=1.0,
        conditions={"a network's limit is 2/L": abs(stable / limit - 1) <= TOLERANCE},
        picture=Picture(
            title="Small rates are slow, large rates never converge",
            x_label="learning rate in units of 1/L, ηL",
            y_label="steps to a thousandth of the distance",
            curves={"predicted": (fine, [formula(curvatures, rate, max_steps) for rate in fine])},
            points={"gradient descent": (RATES, found[: len(RATES)])},
            marks={"best: 2/(L + μ)": best, "limit: 2/L": 2.0},
            log="y",
        ),
        details={
            "steps at the best rate": steps(curvatures, best, max_steps),
            "network's largest stable rate, in 1/L": stable,
        },
    )


def formula(curvatures: Tensor, rate: float, limit: int) -> float:
    """log 10⁻³ / log max |1 - ηλ|, rounded up, or the limit."""
    slowest = max((1 - rate * curvatures).abs().max().item(), 1e-300)
    needed = math.log(GOAL) / math.log(slowest) if slowest < 1 else math.inf
    return float(math.ceil(min(needed, limit)))


def steps(curvatures: Tensor, rate: float, limit: int) -> float:
    """Steps that the optimizer takes."""
    theta = nn.Parameter(torch.ones_like(curvatures))
    descent = optimizer("gd", [theta], rate)
    for step in range(limit):
        if theta.detach().abs().max() <= GOAL:
            return float(step)
        theta.grad = curvatures * theta.detach()
        descent.step()
    return float(limit)


def largest_stable_rate(seed: int) -> float:
    """In units of 1/L, by bisection between 1.5 and 2.5.

    A network that generates its own targets is at a minimum, h = 0. Moved by 1e-6 along the
    steepest direction, it returns or leaves: 60 steps multiply the offset by (1 - ηL)⁶⁰.
    """
    h, theta = teacher(seed)
    top = largest_curvature(h, theta, tolerance=1e-6)
    begin = theta + 1e-6 * top.direction
    low, high = 1.5, 2.5
    for _ in range(7):
        middle = (low + high) / 2
        end = gradient_descent(h, begin, 60, middle / top.largest)[-1]
        leaves = (end - theta) @ top.direction
        low, high = (low, middle) if leaves.abs() > 1e-6 else (middle, high)
    return (low + high) / 2


def teacher(seed: int) -> tuple[Function, Tensor]:
    """The loss of a tanh network whose targets are its own outputs, and its weights."""
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = MLP(3, [6], 2, activation="tanh").double()
    x = torch.randn(30, 3, dtype=torch.float64, generator=generator)
    y = model(x).detach()
    return flattened(model, lambda f: losses.squared(f(x), y).mean())

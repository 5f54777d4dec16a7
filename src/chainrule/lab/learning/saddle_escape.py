"""Claim: near a saddle, descent escapes like (1 + η)ᵗ, with momentum faster (A 1.3.9, J 3.3).

    h(θ) = ½ (x² - y²):   y_{t+1} = (1 + η) y_t + β (y_t - y_{t-1}),   y_{-1} = y_0
    y_t = y_0 ((1 - w) z^{t+1} + (z - 1) w^{t+1})/(z - w),   z, w = roots of z² - (1 + β + η) z + β
    β = 0:  z = 1 + η,     β > 0:  z ≈ 1 + η/(1 - β) for small η

Measured: y_t along the library's `gd` and `momentum` from y_0 = 10⁻⁶; the largest relative
difference from the formula until |y| = 1.
Bound: 1e-9; the recursion multiplies rounding errors of 1e-16 no more than it multiplies y_0.
From y_0 = 0 exactly neither ever leaves: the start off the ridge makes descent escape, and momentum
only shortens the way. Lee et al. (2016).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.optimizers import optimizer

BOUND = 1e-9
RATE = 0.02
BESIDE = 1e-6


def check(steps: int = 800) -> Verdict:
    """Plain descent, and momentum β = 0.9.

    Args:
        steps: Steps of the optimizers.
    """
    return verdict(both_roots, steps)


def broken() -> Verdict:
    """Momentum treated as nothing but a rate of η/(1 - β)."""
    return verdict(lambda beta: (1 + RATE / (1 - beta), 0.0), 800)


def near() -> Near:
    """Another momentum than the optimizer's."""
    return ten_percent("β", lambda factor: verdict(lambda beta: both_roots(factor * beta), 800))


def verdict(roots: Callable[[float], tuple[float, float]], steps: int) -> Verdict:
    """Distances from the ridge by step."""
    found = {0.0: path("gd", steps), 0.9: path("momentum", steps, momentum=0.9)}
    expected = {beta: formula(roots(beta), steps) for beta in found}
    left = {beta: int((y < 1).sum()) for beta, y in found.items()}
    worst = max(
        (found[b][: left[b]] / expected[b][: left[b]] - 1).abs().max().item() for b in found
    )
    names = {0.0: "plain", 0.9: "momentum"}
    return Verdict(
        quantity="largest |y_t / formula - 1|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Near a saddle, momentum 0.9 escapes five times sooner",
            x_label="step",
            y_label="distance |y| from the ridge",
            curves={names[b]: series(expected[b][: left[b]], 1) for b in found},
            points={names[b]: series(found[b][: left[b]], max(1, left[b] // 15)) for b in found},
            bounds={"escaped": ([0.0, float(max(left.values()))], [1.0, 1.0])},
            log="y",
        ),
        details={f"steps, {names[b]}": float(left[b]) for b in found},
    )


def both_roots(beta: float) -> tuple[float, float]:
    """z and w."""
    half = (1 + beta + RATE) / 2
    distance = math.sqrt(half**2 - beta)
    return half + distance, half - distance


def formula(roots: tuple[float, float], steps: int) -> Tensor:
    """y_0 … y_steps."""
    z, w = roots
    t = torch.arange(1, steps + 2, dtype=torch.float64)
    return BESIDE * ((1 - w) * z**t + (z - 1) * w**t) / (z - w)


def path(name: str, steps: int, **options: float) -> Tensor:
    """y along the optimizer's path."""
    theta = nn.Parameter(torch.tensor([1.0, BESIDE], dtype=torch.float64))
    chosen = optimizer(name, [theta], RATE, **options)
    found = [theta[1].item()]
    for _ in range(steps):
        x, y = theta.detach()
        theta.grad = torch.stack([x, -y])
        chosen.step()
        found.append(theta[1].item())
    return torch.tensor(found, dtype=torch.float64)


def series(y: Tensor, every: int) -> tuple[list[float], list[float]]:
    return [float(t) for t in range(0, len(y), every)], y[::every].tolist()

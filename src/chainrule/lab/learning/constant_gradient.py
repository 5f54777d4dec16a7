"""Claim: under a constant gradient δ, momentum's step grows to η δ/(1 - β) (J 3.3).

    θ_t = θ_{t-1} - η δ + β (θ_{t-1} - θ_{t-2})
    ⇒   θ_{t-1} - θ_t  =  η δ Σ_{k=0}^{t-1} βᵏ  =  η δ (1 - βᵗ)/(1 - β)

Measured: the steps of the library's `momentum` for several β; the largest relative difference from
the formula.
Bound: 1e-10. A step is the difference of two positions up to `steps` / (1 - β) times its first
length, so six of sixteen digits may cancel.
J prints the sum from k = 1 to t - 1, which leaves out the current gradient: its first step would be
0. Polyak (1964).
"""

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.optimizers import optimizer

BOUND = 1e-10
BETAS = (0.5, 0.9, 0.95)
RATE = 0.1
GRADIENT = 2.0


def check(steps: int = 60) -> Verdict:
    """The sum from k = 0.

    Args:
        steps: Steps of the optimizer.
    """
    return verdict(steps, first=0)


def broken() -> Verdict:
    """The sum from k = 1, as printed."""
    return verdict(60, first=1)


def near() -> Near:
    """A slightly different rate or momentum, or a sum of one term more."""
    return {
        **ten_percent("β", lambda factor: verdict(60, first=0, beta_scale=factor)),
        **ten_percent("η", lambda factor: verdict(60, first=0, scale=factor)),
        "the sum to k = t": lambda: verdict(60, first=0, last=1),
    }


def verdict(
    steps: int, first: int, last: int = 0, scale: float = 1.0, beta_scale: float = 1.0
) -> Verdict:
    """Steps one by one against the geometric sum."""
    t = torch.arange(1, steps + 1, dtype=torch.float64)
    found = {beta: taken(beta, steps) for beta in BETAS}
    expected = {
        beta: scale * RATE * GRADIENT * (b**first - b ** (t + last)) / (1 - b)
        for beta, b in ((beta, beta_scale * beta) for beta in BETAS)
    }
    worst = max((expected[b] / found[b] - 1).abs().max().item() for b in BETAS)
    numbers = t.tolist()
    unit = RATE * GRADIENT
    return Verdict(
        quantity="largest |step / (η δ (1 - βᵗ)/(1 - β)) - 1|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Under a constant gradient, momentum's steps grow to 1/(1 - β) plain steps",
            x_label="step t",
            y_label="length of the step in units of η δ",
            curves={f"β = {b}": (numbers, (expected[b] / unit).tolist()) for b in BETAS},
            points={f"β = {b}": (numbers[::3], (found[b] / unit).tolist()[::3]) for b in BETAS},
        ),
    )


def taken(beta: float, steps: int) -> torch.Tensor:
    """Lengths of the optimizer's steps."""
    theta = nn.Parameter(torch.zeros(1, dtype=torch.float64))
    chosen = optimizer("momentum", [theta], RATE, momentum=beta)
    path = [theta.item()]
    for _ in range(steps):
        theta.grad = torch.full_like(theta, GRADIENT)
        chosen.step()
        path.append(theta.item())
    return -torch.tensor(path, dtype=torch.float64).diff()

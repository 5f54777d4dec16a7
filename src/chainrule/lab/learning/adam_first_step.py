"""Claim: Adam's first step is η sgn(g), whatever the size of the gradient g (J 3.3, A 1.3.10).

    m ← β₁ m + (1 - β₁) g,   v ← β₂ v + (1 - β₂) g²,   θ ← θ - η m̂/(√v̂ + ε)
    m̂ = m/(1 - β₁ᵗ),  v̂ = v/(1 - β₂ᵗ)     ⇒     t = 1, or g constant:  step = η g/(|g| + ε)

Measured: the steps of the library's `adam` under constant gradients of size 10⁻⁴ … 10⁴ and either
sign; the largest relative difference from the formula.
Bound: 1e-10, rounding: a step is the difference of two positions up to `steps` times as long.
J 3.3 and A 1.3.10 print no bias correction, without which the first step would be η (1 - β₁)/√(1 -
β₂) = 3.16 η; J has no η, and A multiplies by the gradient once more. Kingma and Ba (2015).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning.optimizers import optimizer

BOUND = 1e-10
RATE, BETA_1, BETA_2, EPSILON = 0.01, 0.9, 0.999, 1e-8
SIZES = torch.logspace(-4, 4, 9, dtype=torch.float64)


def check(steps: int = 200) -> Verdict:
    """The corrected averages m̂ and v̂.

    Args:
        steps: Steps of the optimizer.
    """
    return verdict(steps, torch.ones_like)


def broken() -> Verdict:
    """m and v without correction, as printed."""
    return verdict(200, uncorrected)


def near() -> Near:
    """A rate off by 10 %, or corrections that are off by one step."""

    def late(t: Tensor) -> Tensor:
        return uncorrected(t) / uncorrected(t + 1)

    return {
        **ten_percent("η", lambda factor: verdict(20, lambda t: torch.full_like(t, factor))),
        "β₁ᵗ⁺¹ and β₂ᵗ⁺¹ in the corrections": lambda: verdict(20, late),
    }


def verdict(steps: int, factor: Callable[[Tensor], Tensor]) -> Verdict:
    """Steps under constant gradients, in units of η."""
    gradient = torch.cat([SIZES, -SIZES])
    t = torch.arange(1, steps + 1, dtype=torch.float64)
    plain = uncorrected(t)
    expected = gradient / (gradient.abs() + EPSILON)
    expected = factor(t)[:, None] * expected.expand(steps, -1)
    found = taken(gradient, steps)
    worst = (found / expected - 1).abs().max().item()
    number = t.tolist()
    shown = [k for k in (0, 1, 2, 4, 6, 9, 14, 19, 29, 49, 69, 99, 149, 199) if k < steps]
    return Verdict(
        quantity="largest |step / (η g/(|g| + ε)) - 1|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="With bias correction, all of Adam's steps under a constant gradient are η",
            x_label="step t",
            y_label="length of the step in units of η",
            curves={"predicted": (number, expected[:, 0].tolist())},
            points={
                "gradients of ±10⁻⁴ … ±10⁴": (
                    t[shown].tolist(),
                    found[shown].abs().max(1).values.tolist(),
                )
            },
            bounds={"without correction": (number, plain.tolist())},
            log="x",
        ),
        details={"first step as printed": plain[0].item()},
    )


def uncorrected(t: Tensor) -> Tensor:
    """(1 - β₁ᵗ)/√(1 - β₂ᵗ)."""
    return (1 - BETA_1**t) / (1 - BETA_2**t).sqrt()


def taken(gradient: Tensor, steps: int) -> Tensor:
    """The optimizer's steps, divided by η."""
    theta = nn.Parameter(torch.zeros_like(gradient))
    adam = optimizer("adam", [theta], RATE, betas=(BETA_1, BETA_2), eps=EPSILON)
    path = [theta.detach().clone()]
    for _ in range(steps):
        theta.grad = gradient.clone()
        adam.step()
        path.append(theta.detach().clone())
    return -torch.stack(path).diff(dim=0) / RATE

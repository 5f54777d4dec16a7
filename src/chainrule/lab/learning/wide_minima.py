"""Claim: the smaller the batch, the smaller the rate or curvature of a stable minimum (A 1.3.8).

    f(x) = wx fits all examples, so every ∇ℓ_i vanishes at w*; a_i = x_i² is the curvature of ℓ_i
    w - w* ↦ (1 - η a_B)(w - w*),   a_B = mean over the batch
    E (w' - w*)² / (w - w*)²  =  (1 - ηa)² + η² s²/B · (N - B)/(N - 1),   a, s² = mean, var of a_i
    stays  ⇔  this is below 1  ⇔  η < 2a / (a² + s²/B · (N - B)/(N - 1))

Measured: the growth of (w - w*)² in one step of the library's gradient, averaged over all batches
of B = 1 … N examples, for several η, against the formula; the largest relative difference.
Bound: 1e-10, a few hundred terms in double precision.
At B = N the limit is 2/a, gradient descent's; at the same η, smaller batches leave minima whose
curvature varies between examples. "Prefers wider minima" in A is this instability, not a goal.
Wu, Ma and E (2018).
"""

from itertools import combinations

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-10
RATES = (0.2, 0.6, 1.0, 1.5)  # times 1/a


def check(examples: int = 8, seed: int = 0) -> Verdict:
    """Batches without replacement.

    Args:
        examples: Training examples N, at least 2.
    """
    return verdict(max(examples, 2), seed)


def broken() -> Verdict:
    """As if only the mean curvature counted."""
    return verdict(8, 0, noise=0.0)


def near() -> Near:
    """Constants off by 10 %, and N for N - 1."""
    return {
        **ten_percent("s²", lambda factor: verdict(8, 0, noise=factor)),
        **ten_percent("a", lambda factor: verdict(8, 0, mean=factor)),
        "(N - B)/N": lambda: verdict(8, 0, less=0),
    }


def verdict(N: int, seed: int, noise: float = 1.0, mean: float = 1.0, less: int = 1) -> Verdict:
    """Growth by B and η."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(N, 1, dtype=torch.float64, generator=generator)
    curvatures = x[:, 0].square()
    a = curvatures.mean().item()
    variance = noise * curvatures.var(unbiased=False).item()

    def spread(B: int) -> float:
        return variance / B * (N - B) / (N - less)

    sizes = list(range(1, N + 1))
    off = 0.0
    every = [batch_slopes(x, B) for B in sizes]
    for B, slopes in zip(sizes, every, strict=True):
        for rate in RATES:
            found = (1 - rate / a * slopes).square().mean().item()
            formula = (1 - mean * rate) ** 2 + (rate / a) ** 2 * spread(B)
            off = max(off, abs(found / formula - 1) if formula else abs(found))
    limits = [2 * a / (a**2 + spread(B)) * a for B in sizes]
    measured = [2 * a * s.mean().item() / s.square().mean().item() for s in every]
    numbers = list(map(float, sizes))
    return Verdict(
        quantity="largest relative |growth of E (w - w*)² - formula|",
        measured=off,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Smaller batches need smaller steps, or wider minima, to stay",
            x_label=f"batch size B, of N = {N}",
            y_label="largest stable rate in units of 1/a",
            curves={"formula": (numbers, limits)},
            points={"all batches": (numbers, measured)},
            bounds={"gradient descent, 2/a": ([1.0, float(N)], [2.0, 2.0])},
        ),
        details={"limit at B = 1, in 1/a": limits[0], "limit at B = N, in 1/a": limits[-1]},
    )


def batch_slopes(x: Tensor, B: int) -> Tensor:
    """The gradient of every batch's loss at w* + 1, which is a_B."""
    model = LinearRegression(1, bias=False).double()
    (w,) = model.parameters()
    torch.nn.init.constant_(w, 3.0)
    y = 2 * x  # w* = 2
    found = []
    for rows in combinations(range(len(x)), B):
        batch = list(rows)
        (g,) = torch.autograd.grad(losses.squared(model(x[batch]), y[batch]).mean(), w)
        found.append(g.flatten()[0])
    return torch.stack(found)

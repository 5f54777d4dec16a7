"""Claim: on a non-convex loss the start decides which minimum is found (L "Convexity", J 3.2).

    h(θ) = 1/N Σ_i ½ (y_i - sin θx_i)²,   L ≤ 2/N Σ_i x_i²
    η < 1/L   ⇒   θ ↦ θ - η h'(θ) increases, so that no path crosses a maximum of h

Measured: a model sin θx with one weight, fitted to y = sin 2x; of random starts between the first
and the last maximum, the number that leave their basin along the library's gradient descent.
Bound: exactly 0: an increasing map keeps the order of start and maximum, and fixes the maximum.
Maxima are sign changes of h' on a grid of 1e-3; starts closer than that are moved away.
"""

import torch
from torch import Tensor
from torch.func import grad

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Picture, Verdict
from chainrule.learning import losses

GRID = torch.arange(-1, 8, 1e-3, dtype=torch.float64) + 3e-4  # the root θ = 2 lies between
STEPS = 500


def check(starts: int = 80, examples: int = 10, seed: int = 0) -> Verdict:
    """Steps of 0.9 / L.

    Args:
        starts: Random starts.
        examples: Training examples.
    """
    return verdict(starts, examples, seed, rate=0.9)


def broken() -> Verdict:
    """Steps of 10 / L, which jump over maxima."""
    return verdict(80, 10, 0, rate=10.0)


def verdict(starts: int, examples: int, seed: int, rate: float) -> Verdict:
    """Starts and ends on either side of the maxima."""
    generator = torch.Generator().manual_seed(seed)
    x = 10 * torch.rand(examples, dtype=torch.float64, generator=generator) - 5
    y = (2 * x).sin()

    def h(theta: Tensor) -> Tensor:
        """Summed over the starts, each of which has its own gradient."""
        output = (theta[:, None] * x).sin()
        return losses.squared(output, y.expand_as(output)).sum() / examples

    slope = grad(h)(GRID)
    turns = slope[:-1].sign() - slope[1:].sign()
    maxima, minima = (GRID[:-1][turns == sign] + 5e-4 for sign in (2, -2))
    minima = minima[(minima > maxima[0]) & (minima < maxima[-1])]
    low, high = maxima[0] + 2e-3, maxima[-1] - 2e-3
    begin = low + (high - low) * torch.rand(starts, dtype=torch.float64, generator=generator)
    near = (begin[:, None] - maxima).abs().min(1).values < 2e-3
    begin = torch.where(near, begin + 5e-3, begin).sort().values
    end = gradient_descent(h, begin, STEPS, rate / (2 * x.square().mean().item()))[-1]
    left = int((torch.bucketize(begin, maxima) != torch.bucketize(end, maxima)).sum())
    fine = torch.linspace(low.item(), high.item(), 1000, dtype=torch.float64)
    lowest = minima[torch.stack([h(m[None]) for m in minima]).argmin()].item()
    return Verdict(
        quantity="starts that leave their basin",
        measured=float(left),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Where descent ends depends on where it starts",
            x_label="start θ⁰",
            y_label=f"end, after {STEPS} steps",
            curves={"minimum of the basin": (fine.tolist(), basin(fine, maxima, minima))},
            points={"gradient descent": (begin.tolist(), end.tolist())},
            bounds={"global minimum": ([low.item(), high.item()], [lowest, lowest])},
        ),
        details={
            "minima": float(len(minima)),
            "starts that find the lowest": ((end - lowest).abs() < 0.01).double().mean().item(),
        },
    )


def basin(theta: Tensor, maxima: Tensor, minima: Tensor) -> list[float]:
    """The minimum between the maxima on both sides."""
    return minima[torch.bucketize(theta, maxima) - 1].tolist()

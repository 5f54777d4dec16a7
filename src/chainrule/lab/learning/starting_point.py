"""Claim: on a non-convex loss the start decides which minimum is found (L "Convexity", J 3.2).

    h(θ) = 1/N Σ_i ½ (y_i - sin θx_i)²,   L ≥ max |h''|,   maxima m_1 < m_2 < …,   minima between
    η < 1/L   ⇒   θ ↦ θ - η h'(θ) increases and fixes every m_k
              ⇒   a start between m_k and m_{k+1} ends in the minimum between them

Measured: a model sin θx with one weight, fitted to y = sin 2x, from evenly spaced starts along the
library's gradient descent; the largest distance between the end and the minimum of its basin.
Bound: 1e-6. Extrema are sign changes of h', bisected to 1e-12. Of `STEPS` steps of 0.9/L, a start
needs at most ln(r/d)/ln(1 + η|h''(m)|) to get from d = 1e-3 beside a maximum to r = 1, and then
ln(1e6)/(η h'') into the minimum; basins whose curvatures are below a hundredth of L are left out.
There must be at least two minima with different losses, of which one is θ = 2 with h = 0, and the
starts must find them all.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import grad, vmap

from chainrule.autodiff.curvature import Function, gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.learning import losses

GRID = torch.arange(-1, 8, 1e-3, dtype=torch.float64) + 3e-4  # no root lies on it
STEPS = 1500
BOUND = 1e-6
MARGIN = 1e-3  # least distance of a start from a maximum


def check(starts: int = 120, examples: int = 10, seed: int = 0) -> Verdict:
    """Steps of 0.9 / L.

    Args:
        starts: Starts, evenly spaced.
        examples: Training examples.
    """
    return verdict(starts, examples, seed)


def broken() -> Verdict:
    """Steps of 10 / L, which jump over maxima."""
    return verdict(120, 10, 0, rate=10.0)


def near() -> Near:
    """Other borders and ends, or larger steps."""
    return {
        "the nearest minimum is found": lambda: verdict(60, 10, 0, nearest=True),
        **ten_percent("distance to the border", lambda factor: verdict(60, 10, 0, border=factor)),
        **ten_percent("θ*", lambda factor: verdict(60, 10, 0, place=factor)),
        "η = 4/L": lambda: verdict(60, 10, 0, rate=4.0),
    }


class Basins(NamedTuple):
    """Minima, each between a left and a right maximum."""

    minima: Tensor
    left: Tensor
    right: Tensor


def verdict(
    starts: int,
    examples: int,
    seed: int,
    rate: float = 0.9,
    nearest: bool = False,
    border: float = 1.0,
    place: float = 1.0,
) -> Verdict:
    """Ends against the minimum between the maxima on both sides of each start."""
    h, L = sine_fit(examples, seed)
    found = basins(h, L)
    begin = spaced(found, starts)
    end = gradient_descent(lambda theta: h(theta).sum(), begin, STEPS, rate / L)[-1]
    expected = place * predicted(found, begin, border, nearest)
    off = (end - expected).abs().max().item()
    heights = h(found.minima)
    lowest = found.minima[heights.argmin()].item()
    reached = {round(value, 3) for value in end.tolist()}
    ends = [found.left.min().item(), found.right.max().item()]
    return Verdict(
        quantity="largest |end - minimum of the basin|",
        measured=off,
        relation="≤",
        bound=BOUND,
        conditions={
            "at least two minima of different loss": bool((heights > heights.min() + 0.01).any()),
            "θ = 2 is a minimum": (found.minima - 2).abs().min().item() < 1e-9,
            "every minimum is found": len(reached) >= len(found.minima),
        },
        picture=Picture(
            title="Where descent ends depends on where it starts",
            x_label="start θ⁰",
            y_label=f"end, after {STEPS} steps",
            curves={
                "minimum of the basin": (
                    begin.tolist(),
                    predicted(found, begin, border, nearest).tolist(),
                )
            },
            points={"gradient descent": (begin.tolist(), end.tolist())},
            bounds={"global minimum": (ends, [lowest, lowest])},
        ),
        details={
            "minima": float(len(found.minima)),
            "starts that find the lowest": ((end - lowest).abs() < 0.01).double().mean().item(),
        },
    )


def sine_fit(examples: int, seed: int) -> tuple[Function, float]:
    """h, one value per θ, and the largest |h''| of the grid with 1 % for what lies between."""
    generator = torch.Generator().manual_seed(seed)
    x = 10 * torch.rand(examples, dtype=torch.float64, generator=generator) - 5
    y = (2 * x).sin()

    def h(theta: Tensor) -> Tensor:
        output = (theta[:, None] * x).sin()
        return losses.squared(output, y.expand_as(output)) / examples

    return h, 1.01 * curvature(h, GRID).abs().max().item()


def slope(h: Function, theta: Tensor) -> Tensor:
    """h' at each θ."""
    return grad(lambda t: h(t).sum())(theta)


def curvature(h: Function, theta: Tensor) -> Tensor:
    """h'' at each θ."""
    return vmap(grad(grad(lambda t: h(t[None])[0])))(theta)


def basins(h: Function, L: float) -> Basins:
    """All minima between two maxima whose curvatures are at least L/100."""
    turns = slope(h, GRID).sign().diff()
    places = turns.nonzero()[:, 0]
    roots = bisected(h, GRID[places], GRID[places + 1])
    kinds, bends = turns[places], curvature(h, roots).abs()
    inner = [
        k
        for k in range(1, len(roots) - 1)
        if kinds[k] > 0 and bends[k - 1 : k + 2].min() >= L / 100
    ]
    k = torch.tensor(inner, dtype=torch.long)
    return Basins(roots[k], roots[k - 1], roots[k + 1])


def bisected(h: Function, low: Tensor, high: Tensor) -> Tensor:
    """Roots of h' between low and high, where its sign changes."""
    sign = slope(h, low).sign()
    for _ in range(40):
        middle = (low + high) / 2
        same = slope(h, middle).sign() == sign
        low, high = torch.where(same, middle, low), torch.where(same, high, middle)
    return (low + high) / 2


def spaced(found: Basins, starts: int) -> Tensor:
    """Evenly spaced places in the basins, none within `MARGIN` of a maximum."""
    each = max(2, starts // len(found.minima))
    share = torch.linspace(0, 1, each, dtype=torch.float64)
    low, high = found.left[:, None] + MARGIN, found.right[:, None] - MARGIN
    return (low + share * (high - low)).flatten()


def predicted(found: Basins, begin: Tensor, border: float, nearest: bool) -> Tensor:
    """The minimum between the borders of each start, or the nearest one.

    A `border` other than 1 moves each border relative to its minimum.
    """
    if nearest:
        return found.minima[(begin[:, None] - found.minima).abs().argmin(1)]
    left = found.minima + border * (found.left - found.minima)
    right = found.minima + border * (found.right - found.minima)
    inside = (begin[:, None] > left) & (begin[:, None] < right)
    return torch.where(inside.sum(1) == 1, found.minima[inside.int().argmax(1)], torch.inf)

"""Claim: every local minimum of a convex function is global (L "Convexity", J 3.2).

    h convex  and  h(θ*) ≤ h(θ) for all θ near θ*     ⇒     h(θ*) ≤ h(θ) for all θ

Measured: the end points of the library's gradient descent from random starts on least squares with
a duplicated input, so that the minima form a line; the largest distance of their loss from that of
the solution by singular values.
Bound: 1e-9. The gap falls by (1 - 1/κ)² in each of 500 steps of size 1/L, and κ, the ratio of the
largest to the smallest positive eigenvalue, is below 20, which leaves 1e-20; rounding leaves 1e-14.
The end points themselves lie far apart, as the details show.
"""

from functools import partial

import torch
from torch import Tensor
from torch.func import vmap

from chainrule.autodiff.curvature import flattened, gradient_descent, largest_curvature
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-9
STEPS = 500
SHOWN = 15


def check(starts: int = 50, examples: int = 40, seed: int = 0) -> Verdict:
    """f(x) = wᵀx, linear in the weights: a convex loss.

    Args:
        starts: Random starts.
        examples: Training examples.
    """
    return verdict(starts, examples, seed, bend=0.0)


def broken() -> Verdict:
    """Every weight w replaced by w + sin 3w, so that the loss is not convex."""
    return verdict(50, 40, 0, bend=1.0)


def near() -> Near:
    """Weights bent less, but enough for a second minimum."""
    return {f"w + {bend} sin 3w": partial(verdict, 20, 40, 0, bend=bend) for bend in (0.4, 0.6)}


def verdict(starts: int, examples: int, seed: int, bend: float) -> Verdict:
    """Losses along the paths from all starts, and the global minimum."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(examples, 3, dtype=torch.float64, generator=generator)
    x = torch.cat([x, x[:, :1]], 1)
    y = torch.randn(examples, 1, dtype=torch.float64, generator=generator)
    model = LinearRegression(4, bias=False).double()
    model.solve(x, y)
    h, best = flattened(model, lambda f: losses.squared(f(x), y).mean())
    lowest = h(best).item()

    def bent(theta: Tensor) -> Tensor:
        return vmap(lambda row: h(row + bend * (3 * row).sin()))(theta)

    begin = 3 * torch.randn(starts, 4, dtype=torch.float64, generator=generator)
    rate = 1 / (largest_curvature(h, best, tolerance=1e-6).largest * (1 + 50 * bend))
    path = gradient_descent(lambda theta: bent(theta).sum(), begin, STEPS, rate)
    values = vmap(bent)(path)
    worst = (values[-1] - lowest).abs().max().item()
    t = list(map(float, range(SHOWN)))
    return Verdict(
        quantity="largest |loss at the end - global minimum|",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="On a convex loss, every start reaches the same minimum value",
            x_label="step",
            y_label="loss",
            points={
                f"start {k + 1}": (t, values[:SHOWN, k].tolist()) for k in range(min(starts, 4))
            },
            bounds={"least squares by singular values": ([t[0], t[-1]], [lowest, lowest])},
            log="y",
        ),
        details={"largest distance between ends": torch.cdist(path[-1], path[-1]).max().item()},
    )

"""Claim: every local minimum of a convex function is global (L "Convexity", J 3.2).

    h convex  and  h(θ*) ≤ h(θ) for all θ near θ*     ⇒     h(θ*) ≤ h(θ) for all θ

Measured: the library's gradient descent from random starts on four convex losses of a linear model,
all with a duplicated input, so that the minima form a line; the largest distance of the loss at the
end from the global minimum, whose value is known:
    least squares         by singular values
    Huber's regression    0, for targets of another linear model; linear far from the minimum
    logistic regression   the mean entropy of the labels' frequencies, one weight for every group
    expectile regression  0, for the same targets; errors above count nine times as much
Bound: 1e-9. With η = 1/L and R the largest distance of a start from the minima, the gap after T
steps is at most L R²/(4T + 2) on any convex h, and falls like (1 - 1/κ)²ᵗ once h is quadratic.
The ends themselves lie far apart, as the details show.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import huber_loss

from chainrule.autodiff.curvature import gradient_descent
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.learning import losses
from chainrule.models.feedforward.linear_regression import LinearRegression

BOUND = 1e-9
STEPS = 500
SHOWN = 27


Losses = Callable[[Tensor], Tensor]


class Problem(NamedTuple):
    """A convex loss of θ ∈ ℝ⁴, one value per row, with its smoothness L and its minimum h*."""

    h: Losses
    L: float
    lowest: float


def check(starts: int = 30, examples: int = 40, seed: int = 0) -> Verdict:
    """f(x) = wᵀx, linear in the weights: convex losses.

    Args:
        starts: Random starts.
        examples: Training examples.
    """
    return verdict(starts, examples, seed, bend=0.0)


def broken() -> Verdict:
    """Every weight w replaced by w + sin 3w, so that the losses are not convex."""
    return verdict(20, 40, 0, bend=1.0)


def near() -> Near:
    """Weights bent by little more than the 1/3 from which w + b sin 3w has a second minimum."""
    return {f"w + {b} sin 3w": partial(verdict, 10, 40, 0, bend=b) for b in (0.37, 0.4)}


def verdict(starts: int, examples: int, seed: int, bend: float) -> Verdict:
    """Losses along the paths from all starts, and the global minimum of each problem."""
    generator = torch.Generator().manual_seed(seed)
    problems = convex_losses(max(examples, 8), generator)
    begin = 2 * torch.randn(starts, 4, dtype=torch.float64, generator=generator)
    paths, gaps = {}, {}
    for name, (h, L, lowest) in problems.items():

        def bent(theta: Tensor, h: Losses = h) -> Tensor:
            return h(theta + bend * (3 * theta).sin())

        def total(theta: Tensor, bent: Losses = bent) -> Tensor:
            return bent(theta).sum()

        rate = 1 / (L * (1 + 50 * bend))
        path = gradient_descent(total, begin, STEPS, rate)
        paths[name], gaps[name] = path, bent(path.flatten(0, 1)).view(-1, starts) - lowest
    worst = {name: gap[-1].abs().max().item() for name, gap in gaps.items()}
    ends = paths["least squares"][-1]
    steps = sorted({round(1.26**k) for k in range(SHOWN)})
    t = list(map(float, steps))
    return Verdict(
        quantity="largest |loss at the end - global minimum|",
        measured=max(worst.values()),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="On a convex loss, every start reaches the same minimum value",
            x_label="step",
            y_label="largest gap to the global minimum of all starts",
            points={
                name: (t, gap[steps].max(1).values.clamp_min(1e-16).tolist())
                for name, gap in gaps.items()
            },
            bounds={"bound at the end": ([t[0], t[-1]], [BOUND, BOUND])},
            log="xy",
        ),
        details={"largest distance between ends": torch.cdist(ends, ends).max().item(), **worst},
    )


def convex_losses(N: int, generator: torch.Generator) -> dict[str, Problem]:
    """Four losses of the same N examples with inputs (x₁, x₂, x₃, x₁)."""
    x = torch.randn(N, 3, dtype=torch.float64, generator=generator)
    x = torch.cat([x, x[:, :1]], 1)
    noise, teacher = (torch.randn(n, dtype=torch.float64, generator=generator) for n in (N, 4))
    target = x @ teacher
    L = torch.linalg.matrix_norm(x, 2).item() ** 2 / N
    model = LinearRegression(4, bias=False).double()
    model.solve(x, noise[:, None])
    least = losses.squared(model(x).detach(), noise[:, None]).mean().item()

    def residuals(w: Tensor, y: Tensor) -> Tensor:
        return w @ x.T - y

    def squares(w: Tensor) -> Tensor:
        return losses.squared(w @ x.T, noise.expand(len(w), N)) / N

    def huber(w: Tensor) -> Tensor:
        r = residuals(w, target)
        return huber_loss(r, torch.zeros_like(r), reduction="none").mean(1)

    def expectile(w: Tensor) -> Tensor:
        r = residuals(w, target)
        return (0.5 * torch.where(r > 0, 0.9, 0.1) * r**2).mean(1)

    return {
        "least squares": Problem(squares, L, least),
        "Huber's regression": Problem(huber, L, 0.0),
        "logistic regression": grouped(N, generator),
        "expectile regression": Problem(expectile, L, 0.0),
    }


def grouped(N: int, generator: torch.Generator) -> Problem:
    """Logistic regression on two groups, each with a duplicated indicator as its inputs.

    The best probability of a group is the frequency of its label 1, so that h* is an entropy.
    """
    group = torch.arange(N) % 2
    x = torch.stack([group == 0, group == 1, group == 0, group == 1], 1).double()
    ones = torch.randint(1, N // 2, (2,), generator=generator)
    rank = torch.arange(N) // 2
    y = (rank < ones[group]).long()
    p = torch.stack([y[group == g].double().mean() for g in (0, 1)])
    share = torch.stack([(group == g).double().mean() for g in (0, 1)])
    entropy = -(share * (p * p.log() + (1 - p) * (1 - p).log())).sum().item()
    L = torch.linalg.matrix_norm(x, 2).item() ** 2 / (4 * N)

    def h(w: Tensor) -> Tensor:
        each = losses.logistic((w @ x.T).flatten(), y.repeat(len(w)))
        return each.view(len(w), N).mean(1)

    return Problem(h, L, entropy)

"""Claim: an example can only shrink the version space, and the perceptron ends in it (J 1.2).

    V(S) = {w | y wᵀ x > 0 on S},    S ⊂ S'  ⇒  V(S') ⊂ V(S)
    E |V(S)| / 2π = 1 / (s + 1)      for s points of uniform direction in the plane and a random w*

Measured: points in the plane, labeled by a random line through the origin and added one at a time;
after s = 2 … `examples` of them, the mean share of all directions of w that is left. Its largest
distance from 1 / (s + 1), in standard errors; 10 % of it are more than 14 of them.
Bound: the normal quantile that all s together exceed for one seed in 10⁶. Each y x allows half of
the circle, so |V| is the largest gap between their directions, minus π. The s cuts and w* divide
the half circle into s + 1 arcs of equal law, two of which are V: |V| / π ~ Beta(2, s - 1), which
gives the standard errors too. V must also never grow, agree with `in_version_space` on a grid of
weights, and contain the weights of the perceptron after each example.
"""

import math
from functools import partial

import torch
from scipy.stats import norm
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.connectionism.perceptron import in_version_space, perceptron_algorithm

LEVEL = 1e-6
GRID = 720  # weights on the circle
ZERO = torch.zeros((), dtype=torch.float64)


def check(examples: int = 15, runs: int = 10_000, seed: int = 0) -> Verdict:
    """Labels of a line.

    Args:
        examples: Points of each run, at least 2.
        runs: Random lines, each with points of its own.
    """
    if examples < 2:
        raise InputError(f"`examples` must be at least 2, got {examples}")
    return verdict(examples, runs, seed)


def broken() -> Verdict:
    """Labels drawn at random: soon no line agrees with them."""
    return verdict(8, 2000, 0, wrong=0.5)


def near() -> Near:
    """Another share, or some wrong labels."""
    return {
        **ten_percent("1 / (s + 1)", lambda factor: verdict(8, 5000, 0, factor=factor)),
        "1 / s": lambda: verdict(8, 2000, 0, other=0),
        "1 % of the labels wrong": partial(verdict, 15, 10_000, 0, wrong=0.01),
    }


def verdict(
    examples: int, runs: int, seed: int, factor: float = 1.0, other: int = 1, wrong: float = 0.0
) -> Verdict:
    """Shares of the circle after each example, over many runs."""
    z = signed_points(examples, runs, seed, wrong)
    sizes = torch.arange(2, examples + 1).double()
    shares = torch.stack([share(z[:, :s]) for s in range(2, examples + 1)])
    expected = factor / (sizes + other)
    deviation = ((sizes - 1) / (2 * (sizes + 1) ** 2 * (sizes + 2))).sqrt()
    distances = (shares.mean(1) - expected).abs() / deviation * runs**0.5
    cuts = (shares[:, :10].diff(dim=0) < 0).sum(0)
    return Verdict(
        quantity="largest |mean share - 1/(s + 1)|, standard errors",
        measured=distances.max().item(),
        relation="≤",
        bound=float(norm.isf(LEVEL / (2 * len(sizes)))),
        conditions={
            "V never grows": bool((shares.diff(dim=0) <= 1e-12).all()),
            "V is that of the model": all(agrees(one) for one in z[:5]),
            "the perceptron ends in V": all(ends_inside(one) for one in z[:10]),
        },
        picture=picture(z[int(cuts.argmax())]),
        details={
            "mean share after the last example": shares[-1].mean().item(),
            "predicted": expected[-1].item(),
        },
    )


def signed_points(examples: int, runs: int, seed: int, wrong: float) -> Tensor:
    """(runs, examples, 2): y x for the line across w* = (1, 0), where y may be wrong."""
    generator = torch.Generator().manual_seed(seed)
    angles = 2 * math.pi * torch.rand(runs, examples, generator=generator, dtype=torch.float64)
    flipped = torch.rand(runs, examples, generator=generator) < wrong
    x = torch.stack([angles.cos(), angles.sin()], 2)
    y = torch.where(flipped, -1.0, 1.0) * x[..., 0].sign()
    return x * y[..., None]


def share(z: Tensor) -> Tensor:
    """|V| / 2π: the largest gap between directions, less half a circle."""
    angles = torch.atan2(z[..., 1], z[..., 0]).sort(-1).values
    around = angles[..., :1] + 2 * math.pi
    gaps = torch.cat([angles, around], -1).diff(dim=-1)
    return (gaps.amax(-1) / (2 * math.pi) - 0.5).clamp_min(0)


def agrees(z: Tensor) -> bool:
    """Whether the share is that of a grid of weights, after each example, to its resolution."""
    angles = 2 * math.pi * torch.arange(GRID, dtype=torch.float64) / GRID
    grid = torch.stack([angles.cos(), angles.sin()], 1)
    ones = torch.ones(len(z), dtype=torch.float64)
    counts = [
        sum(in_version_space(w, ZERO, z[:s], ones[:s]) for w in grid) / GRID
        for s in range(2, len(z) + 1, 4)
    ]
    exact = [share(z[None, :s]).item() for s in range(2, len(z) + 1, 4)]
    return all(abs(a - b) <= 2 / GRID for a, b in zip(counts, exact, strict=True))


def ends_inside(z: Tensor) -> bool:
    """Whether the perceptron finds weights of V."""
    ones = torch.ones(len(z), dtype=torch.float64)
    result = perceptron_algorithm(z, ones, passes=20_000, bias=False)
    return result.converged and in_version_space(result.w, ZERO, z, ones)


def picture(z: Tensor) -> Picture:
    """The edges of V after each example, and the perceptron's weights."""
    angles = torch.atan2(z[:, 1], z[:, 0]).rad2deg()
    lower, upper = angles.cummax(0).values - 90, angles.cummin(0).values + 90
    learned = [
        perceptron_algorithm(z[:s], torch.ones(s).double(), passes=20_000, bias=False).w
        for s in range(1, len(z) + 1)
    ]
    found = [math.degrees(math.atan2(w[1], w[0])) for w in learned]
    done = [float(s) for s in range(1, len(z) + 1)]
    return Picture(
        title="Each example cuts the version space or leaves it as it is",
        x_label="examples",
        y_label="direction of w, degrees from w*",
        curves={
            "upper edge of V": (done, upper.tolist()),
            "lower edge of V": (done, lower.tolist()),
        },
        points={"perceptron": (done, found)},
        bounds={"w*": (done, [0.0] * len(done))},
    )

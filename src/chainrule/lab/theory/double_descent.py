"""Claim: the test error peaks where features equal examples, and falls again beyond (A 1.3.12).

    a = Φ⁺y,  Φ ∈ ℝⁿˣᴺ:     N < n  least squares,     N > n  the shortest of all exact fits
    N = n:  the only fit;  ‖a‖ and the test error grow like 1/σ_min(Φ)

Measured: the number N of random ReLU features with the largest median test error over draws, as
|log₂(N/n)|.
Bound: 0.25; the neighboring values tried are 0.32 away, so the peak is at n itself, where the
median is several times theirs. The second descent must also end lower than the first: the error at
N = 16 n is below all errors at N < n.
Belkin et al. (2019), PNAS 116(32).
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.ridge_regression import ridge
from chainrule.models.theory.random_features import RandomFeatures, features, shortest_fit

BOUND = 0.25
RATIOS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.6, 2.5, 4.0, 8.0, 16.0)
INPUTS = 5
EXACT = 1e-9  # rounding of an exact fit


def check(examples: int = 40, draws: int = 30, noise: float = 0.1, seed: int = 0) -> Verdict:
    """The minimum-norm fit.

    Args:
        examples: Training examples n.
        draws: Independent data sets and features.
        noise: Standard deviation of the noise on the targets.
    """
    return verdict(shortest_fit, examples, draws, noise, seed)


def broken() -> Verdict:
    """A ridge penalty removes the peak."""
    return verdict(lambda Phi, y: ridge(Phi, y[:, None], 0.1)[:, 0], 40, 10, 0.1, 0)


def near() -> Near:
    """A smaller ridge penalty."""

    def penalized(penalty: float) -> Verdict:
        return verdict(lambda Phi, y: ridge(Phi, y[:, None], penalty)[:, 0], 40, 10, 0.1, 0)

    return {f"a ridge penalty of {size}": partial(penalized, size) for size in (1e-2, 1e-3)}


def verdict(
    fit: Callable[[Tensor, Tensor], Tensor], examples: int, draws: int, noise: float, seed: int
) -> Verdict:
    """Medians of the errors by the number of features."""
    widths = [max(round(ratio * examples), 1) for ratio in RATIOS]
    found = torch.tensor(
        [errors(fit, widths, examples, noise, seed * draws + draw) for draw in range(draws)]
    )
    train, test = found.median(0).values.T.tolist()
    peak = abs(math.log2(RATIOS[test.index(max(test))]))
    before = min(error for ratio, error in zip(RATIOS, test, strict=True) if ratio < 1)
    return Verdict(
        quantity="|log₂(N/n)| at the largest test error",
        measured=peak,
        relation="≤",
        bound=BOUND,
        conditions={"the second descent ends below the first": test[-1] < before},
        picture=Picture(
            title="The test error descends twice",
            x_label="features per example, N / n",
            y_label="mean squared error, median over draws",
            points={"test": (list(RATIOS), test), "training": (list(RATIOS), train)},
            marks={"N = n": 1.0},
            log="xy",
        ),
        details={"at the peak": max(test), "lowest before": before, "at N = 16 n": test[-1]},
    )


def errors(
    fit: Callable[[Tensor, Tensor], Tensor],
    widths: list[int],
    examples: int,
    noise: float,
    seed: int,
) -> list[list[float]]:
    """(training error, test error) for each number of features, on data of this seed."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(examples + 400, INPUTS, generator=generator, dtype=torch.float64)
    y = (x.sum(1) / INPUTS**0.5).tanh()
    y = y + noise * torch.randn(len(x), generator=generator, dtype=torch.float64)
    pairs = []
    for width in widths:
        model = RandomFeatures(INPUTS, width, seed)
        model.a.copy_(fit(features(model.W, model.b, x[:examples]), y[:examples]))
        squared = (model(x) - y).square()
        fitted, beyond = squared[:examples].mean().item(), squared[examples:].mean().item()
        pairs.append([fitted if fitted > EXACT else 0.0, beyond])
    return pairs

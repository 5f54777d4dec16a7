"""Least squares on noisy copies of the inputs, and the equivalent ridge regression.

E ‖(X + N) w - y‖² = ‖X w - y‖² + wᵀ E[NᵀN] w        noise N of mean 0, independent of X and y
"""

from collections.abc import Sequence

import torch
from scipy.stats import t
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.helpers.diabetes_regression import solution
from chainrule.learning.augmentation import Augment
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.models.feedforward.ridge_regression import RidgeRegression

LEVEL = 1e-6
DRAWN = {"body mass": 2, "blood pressure": 3, "serum s5": 8}


def ridge(x: Tensor, y: Tensor, penalty: float) -> Tensor:
    return solution(RidgeRegression(x.shape[1], 1, penalty, bias=False), x, y)


def fits(
    x: Tensor, y: Tensor, noises: Sequence[Augment], copies: int, repeats: int, seed: int
) -> list[Tensor]:
    """(repeats, inputs) for each noise: weights of least squares on `copies` noisy copies."""
    if repeats < 2:
        raise InputError(f"`repeats` must be at least 2 for a standard error, got {repeats}")
    many_x, many_y = x.repeat(copies, 1), y.repeat(copies, 1)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return [
            torch.stack(
                [
                    solution(LinearRegression(x.shape[1], bias=False), noise(many_x), many_y)
                    for _ in range(repeats)
                ]
            )
            for noise in noises
        ]


def distance(found: Sequence[Tensor], predicted: Sequence[Tensor]) -> tuple[float, float]:
    """The largest distance of a mean from its prediction in standard errors, and its bound.

    The bound is Student's quantile that all of them together exceed for one seed in 10⁶.
    """
    repeats, inputs = found[0].shape
    errors = [w.std(0) / repeats**0.5 for w in found]
    worst = max(
        ((w.mean(0) - v).abs() / e).max().item()
        for w, v, e in zip(found, predicted, errors, strict=True)
    )
    return worst, float(t.isf(LEVEL / 2 / inputs / len(found), repeats - 1))

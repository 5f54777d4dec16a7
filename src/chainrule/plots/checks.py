"""Checks of the arrays and of the `predict` function that figures are given."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from chainrule.errors import InputError

Predict = Callable[[np.ndarray], ArrayLike]


class GridPrediction(NamedTuple):
    """A grid over the plane and the probability of each class on it, or a scaled score."""

    x_1: Float[np.ndarray, "side side"]
    x_2: Float[np.ndarray, "side side"]
    p: Float[np.ndarray, "side side k"]
    meaning: str


def array(name: str, value: ArrayLike, *shape: int | str) -> np.ndarray:
    """`value` as an array of the given shape, in which a letter stands for any length."""
    found = np.asarray(value)
    fits = len(found.shape) == len(shape) and all(
        isinstance(expected, str) or expected == length
        for expected, length in zip(shape, found.shape, strict=True)
    )
    if not fits:
        raise InputError(f"expected {name} of shape {_written(shape)}, got {_written(found.shape)}")
    return found


def same_lengths(**arrays: Sequence[object] | np.ndarray) -> None:
    """Refuse arrays of different lengths."""
    if len({len(values) for values in arrays.values()}) > 1:
        lengths = ", ".join(f"{name} {len(values)}" for name, values in arrays.items())
        raise InputError(f"expected equal lengths, got {lengths}")


def labels(name: str, value: ArrayLike, classes: Sequence[str]) -> np.ndarray:
    """`value` as class labels 0 … K-1, one per example."""
    found = array(name, value, "N")
    whole = np.issubdtype(found.dtype, np.integer)
    if found.size and not (whole and found.min() >= 0 and found.max() < len(classes)):
        raise InputError(
            f"expected {name} to hold class labels from 0 to {len(classes) - 1}, "
            f"got {found.dtype} values from {found.min()} to {found.max()}"
        )
    return found.astype(int)


def labeled_points(
    x: ArrayLike, y: ArrayLike, classes: Sequence[str]
) -> tuple[Float[np.ndarray, "n 2"], Int[np.ndarray, " n"]]:
    """Points of the plane and their class labels, at least one of them."""
    points, truth = array("x", x, "N", 2).astype(float), labels("y", y, classes)
    same_lengths(x=points, y=truth)
    if not len(points) or len(classes) < 2:
        raise InputError(
            "expected one point or more and two classes or more, "
            f"got {len(points)} and {len(classes)}"
        )
    return points, truth


def predict_on_grid(
    predict: Predict, points: Float[np.ndarray, "n 2"], classes: int, side: int
) -> GridPrediction:
    """Class probabilities on a square grid that extends a little beyond the points."""
    low, high = points.min(0), points.max(0)
    edge = np.where(high > low, 0.12 * (high - low), 1.0)
    x_1, x_2 = np.meshgrid(*np.linspace(low - edge, high + edge, side).T)
    found = np.asarray(predict(np.stack([x_1.ravel(), x_2.ravel()], axis=1)), dtype=float)
    meaning = "probability"
    if found.shape == (side * side,) and classes == 2:
        meaning = "scaled score"
        rising = 0.5 + 0.5 * found / (np.abs(found).max() or 1.0)
        found = np.stack([1 - rising, rising], axis=1)
    found = array("the output of predict", found, side * side, classes)
    if not (found.min() >= -1e-6 and found.max() <= 1 + 1e-6):
        raise InputError(
            f"expected predict to return probabilities, got values from {found.min():.3g} "
            f"to {found.max():.3g}; apply softmax first"
        )
    return GridPrediction(x_1, x_2, found.reshape(side, side, classes), meaning)


def class_margin(p: Float[np.ndarray, "side side k"], k: int) -> Float[np.ndarray, "side side"]:
    """The probability of class k minus the largest probability of another class."""
    return p[..., k] - np.delete(p, k, axis=-1).max(-1)


def _written(shape: Sequence[int | str]) -> str:
    return f"({', '.join(str(length) for length in shape)}{',' if len(shape) == 1 else ''})"

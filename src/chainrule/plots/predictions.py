"""Predictions against the truth: confusion matrix, ROC curves, regression scatter plot."""

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import fill

import numpy as np
from jaxtyping import Float, Integer
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.palette import BLUE, FAINT, INK, QUIET
from chainrule.plots.style import WARM_MAP, canvas, color, in_percent, shortened, styled

MAX_NUMBERS = 20  # classes up to which counts are written
DARKEST = 0.1  # fraction of a row with the darkest color, unless a larger one occurs


@styled
def confusion_matrix(matrix: ArrayLike, classes: Sequence[str], title: str = "") -> Figure:
    """Rows are the truth, columns the prediction; only mistakes are colored.

    A cell off the diagonal is shaded by its fraction of the row, on a scale up to the largest such
    fraction, but at least 10 %. Up to 20 classes the counts are written, except for zeros off the
    diagonal.

    matrix: (classes, classes) counts.
    classes: the class names.
    title: replaces the accuracy in the title.
    """
    counts = array("matrix", matrix, len(classes), len(classes))
    if not np.issubdtype(counts.dtype, np.integer) or (counts.size and counts.min() < 0):
        raise InputError(
            "expected a matrix of counts, got values that are not whole numbers from 0 on"
        )
    names = shortened(classes)
    shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    wrong = np.ma.array(shares, mask=np.eye(len(classes), dtype=bool))
    darkest = max(DARKEST, float(wrong.filled(0).max(initial=0)))
    figure = canvas(8.0, 7.0)
    axes = figure.add_subplot()
    shown = axes.imshow(wrong, cmap=WARM_MAP.with_extremes(bad=FAINT), vmin=0, vmax=darkest)
    if len(names) <= MAX_NUMBERS:
        _write_counts(axes, counts, shares / darkest)
    _name_classes(axes, names)
    axes.set_title(fill(_headline(counts, names, title), 55))
    if wrong.filled(0).any():
        scale = figure.colorbar(shown, shrink=0.75, label="fraction of the true class")
        in_percent(scale.ax.yaxis)
        scale.outline.set_visible(False)
    return figure


def _write_counts(
    axes: Axes, counts: Integer[np.ndarray, "k k"], depth: Float[np.ndarray, "k k"]
) -> None:
    size = min(13.0, 150 / len(counts))
    shown = (counts > 0) | np.eye(len(counts), dtype=bool)
    for i, j in zip(*np.nonzero(shown), strict=True):
        ink = QUIET if i == j else "white" if depth[i, j] > 0.5 else INK
        axes.text(j, i, str(counts[i, j]), ha="center", va="center", color=ink, fontsize=size)


def _name_classes(axes: Axes, classes: Sequence[str]) -> None:
    """Write class names along both axes, only every second or third if there are many."""
    ticks = range(0, len(classes), ceil(len(classes) / 40))
    names = [classes[i] for i in ticks]
    size = max(7.0, min(13.0, 200 / len(names)))
    slanted = max(map(len, names)) * len(names) > 50
    axes.set_xticks(ticks, names, fontsize=size, rotation=45 if slanted else 0)
    if slanted:
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    axes.set_yticks(ticks, names, fontsize=size)
    axes.grid(False)
    if len(classes) <= MAX_NUMBERS:
        between = np.arange(len(classes) + 1) - 0.5
        axes.set_xticks(between, minor=True)
        axes.set_yticks(between, minor=True)
        axes.grid(which="minor", color=FAINT, lw=0.7)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="predicted", ylabel="true")


def _headline(counts: Integer[np.ndarray, "k k"], classes: Sequence[str], title: str) -> str:
    """The accuracy, and the most frequent mistake."""
    accuracy = title or f"accuracy {100 * np.trace(counts) / max(counts.sum(), 1):.3g} %"
    wrong = counts * (1 - np.eye(len(counts), dtype=int))
    i, j = divmod(int(wrong.argmax()), len(wrong))
    if not wrong[i, j]:
        return accuracy
    return f"{accuracy}; most frequent mistake: {classes[i]} → {classes[j]}"


@styled
def roc_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]], positive: str = "", title: str = ""
) -> Figure:
    """True against false positive rate, one curve per classifier.

    The area under a curve is the probability that a positive example is scored above a negative
    one.

    curves: (truth, score) of each classifier by name; truth is 1 for positive examples, else 0.
    positive: the name of class 1, for the axis labels and the title.
    """
    from sklearn.metrics import roc_auc_score, roc_curve

    figure = canvas(7.5, 7.5)
    axes = figure.add_subplot(aspect="equal")
    axes.axline((0, 0), slope=1, color=QUIET, ls=(0, (5, 3)), lw=1.2)
    axes.text(0.62, 0.6, "chance", color=QUIET, rotation=45, ha="center", va="top")
    for index, (name, (truth, score)) in enumerate(curves.items()):
        y, s = array(f"{name}: truth", truth, "N"), array(f"{name}: score", score, "N")
        same_lengths(truth=y, score=s)
        if set(np.unique(y).tolist()) != {0, 1}:
            raise InputError(f"{name}: expected truth to hold both 0 and 1 and nothing else")
        false, true, _ = roc_curve(y, s)
        label = f"{name}, AUC {roc_auc_score(y, s):.3f}"
        axes.plot(false, true, color=color(index), label=label, clip_on=False)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false positive rate", ylabel="true positive rate")
    if positive:
        (name,) = shortened([positive])
        axes.set(
            xlabel=f"false positive rate (others predicted as '{name}')",
            ylabel=f"true positive rate ('{name}' found)",
        )
        title = title or f"ROC curve of '{name}'"
    axes.set_title(fill(title, 55))
    for side in (axes.xaxis, axes.yaxis):
        in_percent(side)
    axes.legend(loc="lower right")
    return figure


@styled
def predicted_against_true(
    truth: ArrayLike, predicted: ArrayLike, title: str = "", target: str = ""
) -> Figure:
    """One dot per example, with R² and RMSE in the title.

    truth, predicted: one value per example.
    target: the name of the predicted quantity, with its unit.
    """
    from sklearn.metrics import r2_score

    y, f = array("truth", truth, "N"), array("predicted", predicted, "N")
    same_lengths(truth=y, predicted=f)
    if len(y) < 2:
        raise InputError(f"expected two examples or more, got {len(y)}")
    figure = canvas(7.5, 7.5)
    axes = figure.add_subplot(aspect="equal")
    axes.axline((y[0], y[0]), slope=1, color=INK, lw=1.4)
    diagonal = axes.text(0.98, 0.985, "predicted = true", transform=axes.transAxes)
    diagonal.set(rotation=45, rotation_mode="anchor", ha="right", va="bottom")
    size, depth = (40, 0.75) if len(y) <= 300 else (30, 0.5) if len(y) <= 3000 else (6, 0.2)
    axes.scatter(y, f, s=size, color=BLUE, alpha=depth, linewidths=0)
    low, high = min(y.min(), f.min()), max(y.max(), f.max())
    edge = 0.04 * (high - low) or 1.0
    axes.set(xlim=(low - edge, high + edge), ylim=(low - edge, high + edge))
    (name,) = shortened([target], longest=40)
    axes.set(xlabel=f"true {name}".rstrip(), ylabel=f"predicted {name}".rstrip())
    rmse = float(np.sqrt(np.mean((y - f) ** 2)))
    found = f"R² = {r2_score(y, f):.3f}, RMSE {rmse:.3g}"
    axes.set_title(f"{fill(title, 55)}\n{found}" if title else found)
    return figure

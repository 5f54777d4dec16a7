"""A hyperparameter search: importance of the settings, optimization history, slices."""

from collections.abc import Collection, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chainrule.errors import InputError
from chainrule.plots.checks import same_lengths
from chainrule.plots.palette import BLUE, INK, ORANGE, QUIET
from chainrule.plots.style import (
    FormatValue,
    Powers,
    canvas,
    format_axis,
    in_percent,
    in_powers,
    legend_below,
    plain_number,
    styled,
)


@styled
def hyperparameter_importance(
    importance: Mapping[str, float], title: str = "hyperparameter importance"
) -> Figure:
    """A bar for each setting, the largest on top.

    importance: the fraction of the variance between trials that each setting explains.
    """
    if not importance:
        raise InputError("expected the importance of at least one setting, got none")
    ranked = sorted(importance.items(), key=lambda pair: pair[1])
    names, fractions = [_words(name) for name, _ in ranked], [value for _, value in ranked]
    figure = canvas(8.0, 1.6 + 0.55 * len(ranked))
    axes = figure.add_subplot(xlabel="explained variance between trials (fANOVA)")
    axes.barh(names, fractions, color=BLUE, height=0.62)
    for place, value in enumerate(fractions):
        axes.text(value + 0.01, place, f"{100 * value:.0f} %", va="center", color=INK)
    axes.set_xlim(0, max(fractions) * 1.12)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    in_percent(axes.xaxis)
    axes.set_title(fill(title, 60))
    return figure


@styled
def optimization_history(
    values: Sequence[float],
    completed: Sequence[bool],
    metric: str,
    higher_is_better: bool = False,
    format_value: FormatValue = plain_number,
) -> Figure:
    """The value of every trial in order, and the best so far.

    values: the cross-validated metric of each trial.
    completed: False for trials that were pruned, which are drawn hollow.
    metric: its name.
    higher_is_better: whether the search maximizes it.
    format_value: writes a value, given the metric's name.
    """
    y, whole = _checked(values, completed)
    figure = canvas(8.5, 5.2)
    axes = figure.add_subplot(xlabel="trial", ylabel=f"cross-validated {_words(metric)}")
    number = np.arange(len(y))
    _trials(axes, number, y, whole, higher_is_better)
    reached = np.where(whole, y, -np.inf if higher_is_better else np.inf)
    pick = np.maximum if higher_is_better else np.minimum
    best = pick.accumulate(reached)
    known = np.isfinite(best)
    axes.step(number[known], best[known], where="post", color=ORANGE, label="best so far")
    format_axis(axes.yaxis, metric, format_value)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if known.any():
        axes.set_title(f"best {format_value(metric, float(best[-1]))} of {len(y)} trials")
    legend_below(figure)
    return figure


@styled
def slice_plot(
    settings: Mapping[str, Sequence[Any]],
    values: Sequence[float],
    errors: Sequence[float],
    completed: Sequence[bool],
    metric: str,
    logarithmic: Collection[str] = (),
    higher_is_better: bool = False,
    format_value: FormatValue = plain_number,
) -> Figure:
    """The metric against each setting, one panel per setting.

    settings: the value of each setting in each trial; numbers get a numeric axis, other values one
        tick each.
    values: the cross-validated metric of each trial.
    errors: its standard error over the folds, drawn as bars.
    completed: False for trials that were pruned, which are drawn hollow.
    metric: its name.
    logarithmic: settings with a logarithmic axis; a zero is drawn at its left end.
    higher_is_better: whether the search maximizes the metric.
    format_value: writes a value, given the metric's name.
    """
    y, whole = _checked(values, completed)
    figure = canvas(6.0 * len(settings) + 1, 5.2)
    grid = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for axes, (name, each) in zip(grid, settings.items(), strict=True):
        same_lengths(values=y, **{name: each})
        x = _axis(axes, each, name in logarithmic)
        near = whole & ~_outliers(y, whole, higher_is_better)
        bars = {"fmt": "none", "ecolor": QUIET, "elinewidth": 1, "alpha": 0.6, "zorder": 2}
        axes.errorbar(x[near], y[near], np.asarray(errors, float)[near], **bars)
        _trials(axes, x, y, whole, higher_is_better)
        axes.set_xlabel(_words(name))
    format_axis(grid[0].yaxis, metric, format_value)
    grid[0].set_ylabel(f"cross-validated {_words(metric)}")
    figure.legend(*grid[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def _axis(axes: Axes, each: Sequence[Any], logarithmic: bool) -> np.ndarray:
    """The positions of the values on a numeric or a categorical axis."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in each):
        x = np.array(each, dtype=float)
        if logarithmic and (x > 0).any():
            zero = x[x > 0].min() / 10
            axes.set_xscale("log")
            in_powers(axes.xaxis)
            if (x == 0).any():
                _label_zero(axes, zero)
            return np.where(x > 0, x, zero)
        return x
    words = sorted({str(value) for value in each}, key=lambda text: (len(text.split()), text))
    axes.set_xticks(range(len(words)), words, rotation=20 if len(words) > 3 else 0)
    axes.set_xlim(-0.5, len(words) - 0.5)
    return np.array([words.index(str(value)) for value in each], dtype=float)


class _PowersAbove(Powers):
    """Ticks of a logarithmic axis above a place where a zero is drawn."""

    def __init__(self, least: float) -> None:
        super().__init__()
        self.least = least

    def __call__(self, x: float, pos: int | None = None) -> str:
        return super().__call__(x, pos) if x > self.least else ""


def _label_zero(axes: Axes, zero: float) -> None:
    """Write 0 at this place of a logarithmic axis, and no powers near it."""
    axes.xaxis.set_major_formatter(_PowersAbove(5 * zero))
    axes.xaxis.set_minor_formatter(_PowersAbove(5 * zero))
    label = axes.annotate("0", (zero, 0), xycoords=axes.get_xaxis_transform())
    label.set(position=(0, -7), anncoords="offset points", ha="center", va="top")


def _trials(
    axes: Axes, x: np.ndarray, y: np.ndarray, whole: np.ndarray, higher_is_better: bool
) -> None:
    """Discs for completed trials, rings for pruned ones, arrows for outliers."""
    look: dict[str, Any] = {"ls": "", "ms": 8, "zorder": 3}
    far = _outliers(y, whole, higher_is_better)
    near = whole & ~far
    axes.plot(x[near], y[near], "o", color=BLUE, mec="white", label="trial", **look)
    pruned = ~whole & ~far
    if pruned.any():
        ring = look | {"mfc": "none", "mec": QUIET, "label": "pruned"}
        axes.plot(x[pruned], y[pruned], "o", **ring)
    if far.any():
        arrow, words = ("v", "far below") if higher_is_better else ("^", "far above")
        edge = np.full(far.sum(), _edge(y, whole, higher_is_better))
        axes.plot(x[far], edge, arrow, **look | {"color": QUIET, "label": words})


def _outliers(y: np.ndarray, whole: np.ndarray, higher_is_better: bool) -> np.ndarray:
    """Which trials are worse than the edge of the axes."""
    edge = _edge(y, whole, higher_is_better)
    return y < edge if higher_is_better else y > edge


def _edge(y: np.ndarray, whole: np.ndarray, higher_is_better: bool) -> float:
    """The worst value that is drawn to scale."""
    sign = -1 if higher_is_better else 1
    cost = sign * (y[whole] if whole.any() else y)
    low, middle, high = float(cost.min()), float(np.median(cost)), float(cost.max())
    return sign * min(high, middle + 4 * max(middle - low, 1e-12))


def _checked(values: Sequence[float], completed: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    y, whole = np.array(values, dtype=float), np.array(completed, dtype=bool)
    same_lengths(values=y, completed=whole)
    if not len(y) or not np.isfinite(y).all():
        raise InputError("expected finite values of one trial or more")
    return y, whole


def _words(name: str) -> str:
    return name.replace("_", " ")

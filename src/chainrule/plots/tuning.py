"""A search for settings in three pictures: what mattered, how it went, and where the best lie."""

from collections.abc import Collection, Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.checks import same_lengths
from chainrule.plots.style import (
    INK,
    PALETTE,
    QUIET,
    canvas,
    drawn,
    in_per_cent,
    in_powers,
    legend_below,
)

SHARES = ("error", "accuracy")


@drawn
def importance_bars(importance: Mapping[str, float], title: str = "What mattered") -> Figure:
    """A bar for each setting, the largest on top: the share of the variance it explains."""
    if not importance:
        raise InputError("expected the importance of at least one setting, got none")
    ranked = sorted(importance.items(), key=lambda pair: pair[1])
    names, shares = [_words(name) for name, _ in ranked], [share for _, share in ranked]
    figure = canvas(8.0, 1.6 + 0.55 * len(ranked))
    axes = figure.add_subplot(xlabel="share of the variance between trials (fANOVA)")
    axes.barh(names, shares, color=PALETTE[0], height=0.62)
    for place, share in enumerate(shares):
        axes.text(share + 0.01, place, f"{100 * share:.0f} %", va="center", color=INK)
    axes.set_xlim(0, max(shares) * 1.12)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    in_per_cent(axes.xaxis)
    axes.set_title(fill(title, 60))
    return figure


@drawn
def search_history(
    values: Sequence[float], ended: Sequence[bool], metric: str, better: str = "smaller"
) -> Figure:
    """Every trial's value in turn, hollow where it was pruned, and the best so far."""
    y, whole = _checked(values, ended)
    figure = canvas(8.5, 5.2)
    axes = figure.add_subplot(xlabel="trial", ylabel=f"cross-validated {_words(metric)}")
    number = np.arange(len(y))
    _trials(axes, number, y, whole, better)
    reached = np.where(whole, y, np.inf if better == "smaller" else -np.inf)
    pick = np.minimum if better == "smaller" else np.maximum
    best = pick.accumulate(reached)
    known = np.isfinite(best)
    axes.step(number[known], best[known], where="post", color=PALETTE[1], label="best so far")
    if metric in SHARES:
        in_per_cent(axes.yaxis)
    if known.any():
        found = _written(metric, float(best[known][-1]))
        axes.set_title(f"best {found} of {len(y)} trials")
    legend_below(figure)
    return figure


@drawn
def slices(
    settings: Mapping[str, Sequence[Any]],
    values: Sequence[float],
    errors: Sequence[float],
    ended: Sequence[bool],
    metric: str,
    logarithmic: Collection[str] = (),
    better: str = "smaller",
) -> Figure:
    """The value against each setting, with the standard error over the folds as a bar.

    A setting of numbers has an axis of numbers, logarithmic if named so; a zero stands at its left
    end. Any other setting has one place for each of its values.
    """
    y, whole = _checked(values, ended)
    figure = canvas(6.0 * len(settings) + 1, 5.2)
    grid = figure.subplots(1, len(settings), sharey=True, squeeze=False)[0]
    for axes, (name, each) in zip(grid, settings.items(), strict=True):
        same_lengths(values=y, **{name: each})
        x = _axis(axes, name, each, name in logarithmic)
        near = whole & ~_far(y, whole, better)
        bars = {"fmt": "none", "ecolor": QUIET, "elinewidth": 1, "alpha": 0.6, "zorder": 2}
        axes.errorbar(x[near], y[near], np.asarray(errors, float)[near], **bars)
        _trials(axes, x, y, whole, better)
        axes.set_xlabel(_words(name))
        if metric in SHARES:
            in_per_cent(axes.yaxis)
    grid[0].set_ylabel(f"cross-validated {_words(metric)}")
    return figure


def _axis(axes: Axes, name: str, each: Sequence[Any], logarithmic: bool) -> np.ndarray:
    """Places of the values on an axis of numbers or of words."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in each):
        x = np.array(each, dtype=float)
        if logarithmic and (x > 0).any():
            zero = x[x > 0].min() / 10
            axes.set_xscale("log")
            in_powers(axes.xaxis)
            if (x == 0).any():
                axes.text(zero, -0.075, "0", ha="center", transform=axes.get_xaxis_transform())
            return np.where(x > 0, x, zero)
        return x
    words = sorted({str(value) for value in each}, key=lambda text: (len(text.split()), text))
    axes.set_xticks(range(len(words)), words, rotation=20 if len(words) > 3 else 0)
    axes.set_xlim(-0.5, len(words) - 0.5)
    return np.array([words.index(str(value)) for value in each], dtype=float)


def _trials(axes: Axes, x: np.ndarray, y: np.ndarray, whole: np.ndarray, better: str) -> None:
    """Discs for trials that came to the end, rings for pruned ones, arrows for those far off."""
    look: dict[str, Any] = {"ls": "", "ms": 8, "zorder": 3}
    far = _far(y, whole, better)
    near = whole & ~far
    axes.plot(x[near], y[near], "o", color=PALETTE[0], mec="white", label="trial", **look)
    pruned = ~whole & ~far
    if pruned.any():
        ring = look | {"mfc": "none", "mec": QUIET, "label": "pruned"}
        axes.plot(x[pruned], y[pruned], "o", **ring)
    if far.any():
        arrow, words = ("^", "far above") if better == "smaller" else ("v", "far below")
        edge = np.full(far.sum(), _edge(y, whole, better))
        axes.plot(x[far], edge, arrow, **look | {"color": QUIET, "label": words})


def _far(y: np.ndarray, whole: np.ndarray, better: str) -> np.ndarray:
    """Which trials lie beyond the edge."""
    edge = _edge(y, whole, better)
    return y > edge if better == "smaller" else y < edge


def _edge(y: np.ndarray, whole: np.ndarray, better: str) -> float:
    """A height beyond which bad trials would only press the others together."""
    sign = 1 if better == "smaller" else -1
    cost = sign * (y[whole] if whole.any() else y)
    low, middle, high = float(cost.min()), float(np.median(cost)), float(cost.max())
    return sign * min(high, middle + 4 * max(middle - low, 1e-12))


def _checked(values: Sequence[float], ended: Sequence[bool]) -> tuple[np.ndarray, np.ndarray]:
    y, whole = np.array(values, dtype=float), np.array(ended, dtype=bool)
    same_lengths(values=y, ended=whole)
    if not len(y) or not np.isfinite(y).all():
        raise InputError("expected finite values of one trial or more")
    return y, whole


def _words(name: str) -> str:
    return name.replace("_", " ")


def _written(metric: str, value: float) -> str:
    return f"{100 * value:.2f} %" if metric in SHARES else f"{value:.4g}"

"""How a run went: loss and metrics, epoch by epoch."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import SupportsFloat

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.style import (
    INK,
    PALETTE,
    QUIET,
    End,
    canvas,
    drawn,
    in_per_cent,
    in_powers,
    label_ends,
)

COLORS = {"train": PALETTE[1], "validation": PALETTE[0], "test": PALETTE[2]}
SHARES = ("error", "accuracy")
HIGHER_IS_BETTER = ("accuracy", "r2", "auc", "f1", "score", "overlap")
DOTS = 40  # with more epochs than this a marker on each would hide the line


@drawn
def learning_curves(
    history: Sequence[Mapping[str, SupportsFloat]],
    published: tuple[str, float] | None = None,
    kept: int | None = None,
) -> Figure:
    """The loss on the left, then a panel for each metric; a ring on one validation epoch.

    The ring marks the epoch whose weights were `kept`, or in each panel the best one if None.

    One mapping per epoch, with keys such as `epoch`, `train_loss`, `validation_error`; a key may
    be missing from some epochs. `published` is a label and a value, drawn as a dashed line in the
    panel whose metric the label names, else in the first panel after the loss. The training loss
    is taken to be the mean over the epoch while the weights move, and labeled so.
    """
    panels = _panels(history)
    epochs = _column(history, "epoch") if "epoch" in history[0] else np.arange(len(history)) + 1.0
    if kept is not None and kept not in epochs:
        raise InputError(
            f"expected kept to be an epoch from {epochs[0]:.0f} to {epochs[-1]:.0f}, got {kept}"
        )
    columns = len(panels) if len(panels) <= 3 else 2 if len(panels) == 4 else 3
    rows = ceil(len(panels) / columns)
    figure = canvas((8.0, 11.0, 16.0)[columns - 1], 4.8 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.remove()
    home = _home(list(panels), published[0]) if published else None
    for axes, (metric, series) in zip(grid, panels.items(), strict=False):
        _panel(axes, metric, epochs, series, kept)
        if published and metric == home:
            _published(axes, metric, *published)
        ends = [
            End(values[np.isfinite(values)][-1], _name(split, metric), COLORS[split])
            for split, values in series.items()
        ]
        label_ends(axes, ends)
    return figure


def _panels(
    history: Sequence[Mapping[str, SupportsFloat]],
) -> dict[str, dict[str, Float[np.ndarray, " epochs"]]]:
    """metric → split → one value per epoch, the loss first; what was never finite is left out."""
    panels: dict[str, dict[str, np.ndarray]] = {"loss": {}}
    for key in dict.fromkeys(key for row in history for key in row):
        split, _, metric = key.partition("_")
        values = _column(history, key)
        if split in COLORS and metric and np.isfinite(values).any():
            panels.setdefault(metric, {})[split] = values
    panels = {metric: series for metric, series in panels.items() if series}
    if not panels:
        keys = ", ".join(history[0]) if history else "no epochs"
        raise InputError(
            f"expected a history with finite values of train_loss or validation_error, got {keys}"
        )
    return panels


def _column(
    history: Sequence[Mapping[str, SupportsFloat]], key: str
) -> Float[np.ndarray, " epochs"]:
    """One value per epoch; what is missing or not finite is NaN."""
    values = np.array([float(row.get(key, np.nan)) for row in history], dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def _home(metrics: list[str], label: str) -> str:
    """The panel a published value belongs to."""
    named = (metric for metric in metrics if metric.replace("_", " ") in label.replace("_", " "))
    return next(named, metrics[min(1, len(metrics) - 1)])


def _panel(
    axes: Axes,
    metric: str,
    epochs: Float[np.ndarray, " epochs"],
    series: Mapping[str, Float[np.ndarray, " epochs"]],
    kept: int | None,
) -> None:
    for split, values in series.items():
        known = np.isfinite(values)
        dot = "o" if known.sum() <= DOTS else ""
        axes.plot(epochs[known], values[known], dot + "-", color=COLORS[split], ms=5, label=split)
    axes.set_title(metric.replace("_", " "))
    if "validation" in series:
        _ring(axes, metric, epochs, series["validation"], kept)
    axes.set_xlabel("epoch")
    axes.set_xticks(_ticks(int(epochs[0]), int(epochs[-1])))
    axes.margins(x=0.03, y=0.08)
    _scale(axes, metric, np.concatenate(list(series.values())))


def _ring(
    axes: Axes,
    metric: str,
    epochs: Float[np.ndarray, " epochs"],
    values: Float[np.ndarray, " epochs"],
    kept: int | None,
) -> None:
    """A ring on the kept or the best epoch, which the title names."""
    place = _best(metric, values) if kept is None else int(np.flatnonzero(epochs == kept)[0])
    value, epoch = values[place], f"{epochs[place]:.0f}"
    if not np.isfinite(value):
        return
    name = "best" if kept is None else "kept"
    axes.plot(epochs[place], value, "o", ms=13, mfc="none", mec=INK, mew=1.8, label=name)
    written = _written(metric, value)
    said = (
        f": best {written} at epoch {epoch}" if kept is None else f", kept epoch {epoch}: {written}"
    )
    axes.set_title(axes.get_title(loc="left") + said)


def _ticks(first: int, last: int) -> list[int]:
    """The first epoch, the last one, and round numbers between."""
    steps = (digit * 10**power for power in range(12) for digit in (1, 2, 5))
    step = next(step for step in steps if last - first <= 6 * step)
    between = range(first - first % step, last, step)
    return sorted(
        {first, last, *(e for e in between if first < e - step / 3 and e + step / 3 < last)}
    )


def _name(split: str, metric: str) -> str:
    """The training loss is a mean over moving weights, so validation may well lie below it."""
    return "train, during\nthe epoch" if (split, metric) == ("train", "loss") else split


def _scale(axes: Axes, metric: str, values: Float[np.ndarray, " values"]) -> None:
    """Shares as percent; a loss that falls by more than a factor 30 on a logarithmic axis."""
    low, high = np.nanmin(values), np.nanmax(values)
    if metric in SHARES and high <= 1:
        in_per_cent(axes.yaxis)
    elif metric == "loss" and 0 < 30 * low < high:
        axes.set_yscale("log")
        in_powers(axes.yaxis)


def _published(axes: Axes, metric: str, label: str, value: float) -> None:
    """A dashed line, named on the side that a learning curve reaches last."""
    rising = metric in HIGHER_IS_BETTER
    axes.axhline(value, color=QUIET, ls=(0, (5, 3)), lw=1.8, label="published")
    axes.annotate(
        f"{label}: {_written(metric, value)}",
        xy=(0.02, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 5 if rising else -5),
        textcoords="offset points",
        va="bottom" if rising else "top",
        color=QUIET,
        bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 1},
    )
    low, high = axes.get_ylim()
    room = 0.14 * (high - low) if axes.get_yscale() == "linear" else 0.4 * value
    axes.set_ylim(min(low, value - room), max(high, value + room))


def _best(metric: str, values: Float[np.ndarray, " epochs"]) -> int:
    """The first epoch with the best value."""
    return int(np.nanargmax(values) if metric in HIGHER_IS_BETTER else np.nanargmin(values))


def _written(metric: str, value: float) -> str:
    if metric in SHARES and value <= 1:
        return f"{100 * value:.3g} %"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"

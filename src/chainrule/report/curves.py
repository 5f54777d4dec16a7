"""How a run went: loss and metrics, epoch by epoch."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import SupportsFloat

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from chainrule.errors import InputError
from chainrule.report.style import INK, PALETTE, QUIET, End, canvas, drawn, in_per_cent, label_ends

COLOURS = {"train": PALETTE[1], "validation": PALETTE[0], "test": PALETTE[2]}
SHARES = ("error", "accuracy")
HIGHER_IS_BETTER = ("accuracy", "r2", "auc", "f1", "score", "overlap")
DOTS = 40  # with more epochs than this a marker on each would hide the line


@drawn
def learning_curves(
    history: Sequence[Mapping[str, SupportsFloat]], published: tuple[str, float] | None = None
) -> Figure:
    """The loss on the left, then a panel for each metric; a ring on the best validation epoch.

    One mapping per epoch, with keys such as `epoch`, `train_loss`, `validation_error`; a key may
    be missing from some epochs. `published` is a label and a value, drawn as a dashed line in the
    panel whose metric the label names, else in the first panel after the loss.
    """
    panels = _panels(history)
    epochs = _column(history, "epoch") if "epoch" in history[0] else np.arange(len(history)) + 1.0
    columns = min(len(panels), 2)
    rows = ceil(len(panels) / columns)
    figure = canvas(8.0 if columns == 1 else 11.0, 4.8 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.remove()
    home = _home(list(panels), published[0]) if published else None
    for axes, (metric, series) in zip(grid, panels.items(), strict=False):
        _panel(axes, metric, epochs, series)
        if published and metric == home:
            _published(axes, metric, *published)
        ends = [
            End(values[np.isfinite(values)][-1], split, COLOURS[split])
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
        if split in COLOURS and metric and np.isfinite(values).any():
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
) -> None:
    title = metric.replace("_", " ")
    for split, values in series.items():
        known = np.isfinite(values)
        dot = "o" if known.sum() <= DOTS else ""
        axes.plot(epochs[known], values[known], dot + "-", color=COLOURS[split], ms=5, label=split)
    if "validation" in series:
        best = _best(metric, series["validation"])
        value = series["validation"][best]
        axes.plot(epochs[best], value, "o", ms=13, mfc="none", mec=INK, mew=1.8, label="best")
        title += f": best {_written(metric, value)} at epoch {epochs[best]:.0f}"
    axes.set_title(title)
    axes.set_xlabel("epoch")
    axes.xaxis.set_major_locator(MaxNLocator(7, integer=True))
    axes.margins(x=0.03, y=0.08)
    if len(epochs) == 1:
        axes.set_xticks(epochs)
    _scale(axes, metric, np.concatenate(list(series.values())))


def _scale(axes: Axes, metric: str, values: Float[np.ndarray, " values"]) -> None:
    """Shares as per cent; a loss that falls by more than a factor 30 on a logarithmic axis."""
    low, high = np.nanmin(values), np.nanmax(values)
    if metric in SHARES and high <= 1:
        in_per_cent(axes.yaxis)
    elif metric == "loss" and 0 < 30 * low < high:
        axes.set_yscale("log")


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
    )
    low, high = axes.get_ylim()
    room = 0.14 * (high - low) if axes.get_yscale() == "linear" else 0.4 * value
    axes.set_ylim(min(low, value - room), max(high, value + room))


def _best(metric: str, values: Float[np.ndarray, " epochs"]) -> int:
    """The first epoch with the best value."""
    return int(np.nanargmax(values) if metric in HIGHER_IS_BETTER else np.nanargmin(values))


def _written(metric: str, value: float) -> str:
    return f"{100 * value:.3g} %" if metric in SHARES and value <= 1 else f"{value:.3g}"

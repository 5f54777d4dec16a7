"""Learning curves: loss and metrics of a run, epoch by epoch."""

from collections.abc import Collection, Mapping, Sequence
from math import ceil
from typing import NamedTuple, SupportsFloat

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.palette import BLUE, GREEN, INK, ORANGE, QUIET
from chainrule.plots.style import (
    End,
    FormatValue,
    canvas,
    format_axis,
    in_powers,
    label_ends,
    plain_number,
    styled,
)

COLORS = {"train": ORANGE, "validation": BLUE, "test": GREEN}
NAMES = {"train": "training"}
MAX_MARKERS = 40  # with more epochs they would hide the line
LOG_RANGE = 30  # a loss that falls by a larger factor gets a logarithmic axis


class Panel(NamedTuple):
    """One metric: its values on each split, and how they are read."""

    metric: str
    series: dict[str, Float[np.ndarray, " epochs"]]
    higher_is_better: bool
    format_value: FormatValue

    def written(self, value: float) -> str:
        return self.format_value(self.metric, value)


@styled
def learning_curves(
    history: Sequence[Mapping[str, SupportsFloat]],
    published: tuple[str, float] | None = None,
    kept: int | None = None,
    higher_is_better: Collection[str] = (),
    format_value: FormatValue = plain_number,
) -> Figure:
    """A panel for the loss and one for each metric, with a ring on one validation epoch.

    The training loss is taken to be the running mean over each epoch, and labeled so.

    history: one mapping per epoch, with keys such as `epoch`, `train_loss`, `validation_error`; a
        key may be missing from some epochs.
    published: a label and a value, drawn as a dashed line in the panel whose metric the label
        names, else in the first panel after the loss.
    kept: the epoch whose weights were kept, where the ring is drawn; None draws it on the best
        epoch of each panel.
    higher_is_better: the metrics whose largest value is the best; of all others the smallest is.
    format_value: writes a value, given the metric's name.
    """
    found = _series(history)
    panels = [Panel(m, s, m in higher_is_better, format_value) for m, s in found.items()]
    epochs = _column(history, "epoch") if "epoch" in history[0] else np.arange(len(history)) + 1.0
    if kept is not None and kept not in epochs:
        raise InputError(
            f"kept must be an epoch from {epochs[0]:.0f} to {epochs[-1]:.0f}, got {kept}"
        )
    figure, grid = _grid(len(panels))
    home = _home(list(found), published[0]) if published else None
    for axes, panel in zip(grid, panels, strict=True):
        _draw(axes, panel, epochs, kept)
        if published and panel.metric == home:
            _published(axes, panel, *published)
        ends = [
            End(values[np.isfinite(values)][-1], _label(split, panel.metric), COLORS[split])
            for split, values in panel.series.items()
        ]
        label_ends(axes, ends)
    return figure


def _series(
    history: Sequence[Mapping[str, SupportsFloat]],
) -> dict[str, dict[str, Float[np.ndarray, " epochs"]]]:
    """metric → split → one value per epoch, the loss first; only series with finite values."""
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
    """One value per epoch; missing and infinite ones are NaN."""
    values = np.array([float(row.get(key, np.nan)) for row in history], dtype=float)
    return np.where(np.isfinite(values), values, np.nan)


def _grid(panels: int) -> tuple[Figure, list[Axes]]:
    """A figure with so many axes in rows of at most three."""
    columns = panels if panels <= 3 else 2 if panels == 4 else 3
    rows = ceil(panels / columns)
    figure = canvas((8.0, 11.0, 16.0)[columns - 1], 4.8 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[panels:]:
        axes.remove()
    return figure, list(grid[:panels])


def _home(metrics: list[str], label: str) -> str:
    """The metric a published value belongs to."""
    named = (metric for metric in metrics if metric.replace("_", " ") in label.replace("_", " "))
    return next(named, metrics[min(1, len(metrics) - 1)])


def _draw(axes: Axes, panel: Panel, epochs: Float[np.ndarray, " epochs"], kept: int | None) -> None:
    for split, values in panel.series.items():
        known = np.isfinite(values)
        marker = "o" if known.sum() <= MAX_MARKERS else ""
        (line,) = axes.plot(epochs[known], values[known], marker + "-", color=COLORS[split], ms=5)
        line.set_label(NAMES.get(split, split))
    axes.set_title(panel.metric.replace("_", " "))
    if "validation" in panel.series:
        _ring(axes, panel, epochs, kept)
    axes.set_xlabel("epoch")
    axes.set_xticks(_ticks(int(epochs[0]), int(epochs[-1])))
    axes.margins(x=0.03, y=0.08)
    values = np.concatenate(list(panel.series.values()))
    if panel.metric == "loss" and 0 < LOG_RANGE * np.nanmin(values) < np.nanmax(values):
        axes.set_yscale("log")
        in_powers(axes.yaxis)
    else:
        format_axis(axes.yaxis, panel.metric, panel.format_value)


def _ring(axes: Axes, panel: Panel, epochs: Float[np.ndarray, " epochs"], kept: int | None) -> None:
    """A ring on the kept or the best validation epoch, which the title names."""
    values = panel.series["validation"]
    best = np.nanargmax(values) if panel.higher_is_better else np.nanargmin(values)
    place = int(best) if kept is None else int(np.flatnonzero(epochs == kept)[0])
    value = float(values[place])
    if not np.isfinite(value):
        return
    name = "best" if kept is None else "kept"
    axes.plot(epochs[place], value, "o", ms=13, mfc="none", mec=INK, mew=1.8, label=name)
    title = axes.get_title(loc="left")
    axes.set_title(f"{title}: {name} {panel.written(value)} (epoch {epochs[place]:.0f})")


def _ticks(first: int, last: int) -> list[int]:
    """The first epoch, the last one, and round numbers between."""
    steps = (digit * 10**power for power in range(12) for digit in (1, 2, 5))
    step = next(step for step in steps if last - first <= 6 * step)
    between = range(first - first % step, last, step)
    return sorted(
        {first, last, *(e for e in between if first < e - step / 3 and e + step / 3 < last)}
    )


def _label(split: str, metric: str) -> str:
    """The name at the end of a line."""
    name = NAMES.get(split, split)
    return f"{name},\nrunning mean" if (split, metric) == ("train", "loss") else name


def _published(axes: Axes, panel: Panel, label: str, value: float) -> None:
    """A dashed line, labeled on the side that the learning curve reaches last."""
    above = panel.higher_is_better
    axes.axhline(value, color=QUIET, ls=(0, (5, 3)), lw=1.8, label="published")
    axes.annotate(
        f"{label}: {panel.written(value)}",
        xy=(0.02, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 5 if above else -5),
        textcoords="offset points",
        va="bottom" if above else "top",
        color=QUIET,
        bbox={"fc": "white", "ec": "none", "alpha": 0.7, "pad": 1},
    )
    low, high = axes.get_ylim()
    room = 0.14 * (high - low) if axes.get_yscale() == "linear" else 0.4 * value
    axes.set_ylim(min(low, value - room), max(high, value + room))

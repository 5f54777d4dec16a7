"""The metric of several networks against the length of the sequences or another size."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.palette import QUIET
from chainrule.plots.style import (
    End,
    FormatValue,
    canvas,
    color,
    format_axis,
    label_ends,
    legend_below,
    marker,
    plain_number,
    styled,
)


@styled
def metric_by_length(
    lengths: Sequence[int],
    lines: Mapping[str, Sequence[float]],
    metric: str,
    chance: float | None,
    format_value: FormatValue = plain_number,
    size: str = "sequence length",
) -> Figure:
    """A line for each cell over the sequence lengths.

    lengths: the lengths, in ascending order.
    lines: the test metric of each cell, one value per length; values far above chance are cut off.
    metric: its name; smaller is better.
    chance: the value without any memory, drawn dashed; None for no line.
    format_value: writes a value, given the metric's name.
    size: what `lengths` are.
    """
    if not lengths or not lines or any(len(line) != len(lengths) for line in lines.values()):
        raise InputError(f"expected a value for each of the {len(lengths)} lengths and each cell")
    figure = canvas(8.5, 5.2)
    axes = figure.add_subplot(xlabel=size, ylabel=f"test {metric}")
    _chance(axes, chance)
    format_axis(axes.yaxis, metric, format_value)
    for place, values in enumerate(lines.values()):
        axes.plot(lengths, values, marker(place) + "-", color=color(place), ms=8)
    axes.set_xscale("log")
    axes.set_xticks(list(lengths), [f"{length:,}" for length in lengths])
    axes.set_xticks([], minor=True)
    axes.set_title(f"{metric} by {size}")
    top = axes.get_ylim()[1]
    ends = [End(min(v[-1], top), cell, color(k)) for k, (cell, v) in enumerate(lines.items())]
    label_ends(axes, ends)
    return figure


@styled
def learning_curves_by_length(
    panels: Mapping[int, Mapping[str, Sequence[float]]],
    metric: str,
    chance: float | None,
    format_value: FormatValue = plain_number,
    size: str = "length",
) -> Figure:
    """A panel for each sequence length with the learning curve of each cell.

    panels: length → cell → one value per epoch.
    metric, chance, format_value, size: see `metric_by_length`.
    """
    if not panels:
        raise InputError("expected the learning curves of at least one length, got none")
    cells = list(dict.fromkeys(cell for curves in panels.values() for cell in curves))
    figure = canvas(3.6 * len(panels) + 1.4, 4.8)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (length, curves) in zip(grid, panels.items(), strict=True):
        _chance(axes, chance)
        for cell, values in curves.items():
            place, epochs = cells.index(cell), np.arange(1, len(values) + 1)
            look = {"color": color(place), "marker": marker(place), "ms": 5}
            axes.plot(epochs, values, label=cell if axes is grid[0] else None, **look)
        axes.set_title(f"{size} {length:,}")
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
    grid[0].set_ylabel(f"validation {metric}")
    format_axis(grid[0].yaxis, metric, format_value)
    legend_below(figure)
    return figure


def _chance(axes: Axes, value: float | None) -> None:
    """A dashed line for chance level; the axis goes from zero to a little above it."""
    if value is None:
        return
    axes.axhline(value, color=QUIET, ls=(0, (5, 3)), lw=1.6)
    axes.annotate(
        "chance",
        xy=(0.01, value),
        xycoords=("axes fraction", "data"),
        xytext=(0, 4),
        textcoords="offset points",
        color=QUIET,
    )
    axes.set_ylim(-0.03 * value, 1.15 * value)

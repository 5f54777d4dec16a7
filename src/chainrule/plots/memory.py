"""Where memory fails: the error of several cells by the length of what they must remember."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.style import (
    QUIET,
    End,
    canvas,
    color,
    drawn,
    in_per_cent,
    label_ends,
    legend_below,
    marker,
)

SHARES = ("error", "accuracy")


@drawn
def by_length(
    lengths: Sequence[int],
    lines: Mapping[str, Sequence[float]],
    metric: str,
    guessing: float,
) -> Figure:
    """A line for each cell, with guessing as a dashed one; what is far worse is cut off."""
    if not lengths or not lines or any(len(line) != len(lengths) for line in lines.values()):
        raise InputError(f"expected a value for each of the {len(lengths)} lengths and each cell")
    figure = canvas(8.5, 5.2)
    axes = figure.add_subplot(xlabel="length", ylabel=f"test {metric}")
    _guessing(axes, metric, guessing)
    for place, values in enumerate(lines.values()):
        axes.plot(lengths, values, marker(place) + "-", color=color(place), ms=8)
    axes.set_xscale("log")
    axes.set_xticks(list(lengths), [f"{length:,}" for length in lengths])
    axes.set_xticks([], minor=True)
    axes.set_title("What each cell still remembers")
    top = axes.get_ylim()[1]
    ends = [End(min(v[-1], top), cell, color(k)) for k, (cell, v) in enumerate(lines.items())]
    label_ends(axes, ends)
    return figure


@drawn
def courses(
    panels: Mapping[int, Mapping[str, Sequence[float]]], metric: str, guessing: float
) -> Figure:
    """A panel for each length, and in it the course of each cell, epoch by epoch."""
    if not panels:
        raise InputError("expected the courses of at least one length, got none")
    cells = list(dict.fromkeys(cell for courses in panels.values() for cell in courses))
    figure = canvas(3.6 * len(panels) + 1.4, 4.8)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (length, found) in zip(grid, panels.items(), strict=True):
        _guessing(axes, metric, guessing, named=False)
        for cell, values in found.items():
            place, epochs = cells.index(cell), np.arange(1, len(values) + 1)
            look = {"color": color(place), "marker": marker(place), "ms": 5}
            axes.plot(epochs, values, label=cell if axes is grid[0] else None, **look)
        axes.set_title(f"length {length:,}")
        axes.set_xlabel("epoch")
        axes.xaxis.get_major_locator().set_params(integer=True)
    grid[0].set_ylabel(f"validation {metric}")
    legend_below(figure)
    return figure


def _guessing(axes: Axes, metric: str, value: float, named: bool = True) -> None:
    """A dashed line for what needs no memory; the axis goes from zero to a little above it."""
    axes.axhline(value, color=QUIET, ls=(0, (5, 3)), lw=1.6)
    if named:
        axes.annotate(
            "guessing",
            xy=(0.01, value),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            color=QUIET,
        )
    axes.set_ylim(-0.03 * value, 1.15 * value)
    if metric in SHARES:
        in_per_cent(axes.yaxis)

"""What a network makes of the columns of a table: importance, and the effect of each."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from chainrule.errors import InputError
from chainrule.plots.palette import BLUE, INK, QUIET
from chainrule.plots.style import canvas, color, in_percent, legend_below, shortened, styled

MAX_BARS = 20
ACROSS = 3
LARGE = 10_000  # numbers from here on are written with commas
LONGEST = 26  # characters of a column's name


@styled
def column_importance(
    names: Sequence[str], mean: Sequence[float], std: Sequence[float], what: str, title: str = ""
) -> Figure:
    """A bar for each column, the largest on top, with the deviation over the shuffles.

    names: the columns, the most important first.
    what: what rises when a column is shuffled.
    """
    if not names:
        raise InputError("expected the importance of at least one column, got none")
    shown = min(len(names), MAX_BARS)
    bars = shortened(list(names[:shown])[::-1], LONGEST)
    figure = canvas(8.5, 1.8 + 0.42 * shown)
    axes = figure.add_subplot(xlabel=what)
    places = np.arange(shown)
    axes.barh(places, mean[:shown][::-1], color=BLUE, height=0.62)
    axes.errorbar(
        mean[:shown][::-1], places, xerr=std[:shown][::-1], fmt="none", ecolor=INK, lw=1.2
    )
    axes.axvline(0, color=QUIET, lw=0.8)
    axes.set_yticks(places, bars)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    more = f" (the first {shown} of {len(names)} columns)" if len(names) > shown else ""
    axes.set_title((title or "importance of the columns") + more)
    return figure


@styled
def column_effects(
    effects: Sequence[tuple[str, np.ndarray | list[str], np.ndarray]],
    labels: Sequence[str],
    what: str,
    percent: bool = False,
) -> Figure:
    """The mean output over the values of each column.

    effects: (column, values, (values, outputs)) of each; values are numbers, dates or words.
    labels: of the outputs; a legend if there are several.
    what: the label of the vertical axis.
    percent: write it in percent.
    """
    if not effects:
        raise InputError("expected the effect of at least one column, got none")
    across = min(ACROSS, len(effects))
    down = -(-len(effects) // across)
    figure = canvas(4.0 * across, 0.9 + 3.3 * down)
    every = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes, (name, values, output) in zip(every.flat, effects, strict=False):
        for k, label in enumerate(labels):
            _draw(axes, values, output[:, k], color(k), label)
        axes.set_xlabel(shortened([name], LONGEST)[0])
        if percent:
            in_percent(axes.yaxis)
    for axes in every.flat[len(effects) :]:
        axes.set_visible(False)
    for axes in every[:, 0]:
        axes.set_ylabel(what)
        if not percent and max(map(abs, axes.get_ylim())) >= LARGE:
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if len(labels) > 1:
        legend_below(figure)
    return figure


def _draw(
    axes: Axes, values: np.ndarray | list[str], output: np.ndarray, shade: str, label: str
) -> None:
    if isinstance(values, list):
        places = np.arange(len(values))
        axes.plot(places, output, "o", color=shade, ms=7, label=label)
        axes.set_xticks(places, shortened(values, 14), rotation=35, ha="right")
        axes.set_xlim(-0.6, len(values) - 0.4)
        return
    if not np.issubdtype(values.dtype, np.datetime64):
        axes.plot(values, output, color=shade, lw=2.2, label=label)
    else:  # points: a line would join days of different weekdays
        axes.plot(values, output, "o", color=shade, ms=5, label=label)
        locator = AutoDateLocator(minticks=2, maxticks=6)
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))

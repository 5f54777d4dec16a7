"""Time series: forecasts against the truth."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from chainrule.plots.checks import array, same_lengths
from chainrule.plots.palette import BLUE, ORANGE, QUIET
from chainrule.plots.style import canvas, color, legend_below, marker, styled, tint


@styled
def forecast(truth: ArrayLike, predicted: ArrayLike, title: str = "") -> Figure:
    """The true and the predicted value of each day.

    truth, predicted: one value per day, in order.
    """
    y, f = array("truth", truth, "N"), array("predicted", predicted, "N")
    same_lengths(truth=y, predicted=f)
    figure = canvas(11.0, 4.8)
    axes = figure.add_subplot()
    days = np.arange(1, len(y) + 1)
    axes.axhline(0, color=QUIET, lw=0.8)
    axes.plot(days, y, color=BLUE, lw=1.6, label="true")
    axes.plot(days, f, color=ORANGE, lw=1.9, label="predicted one day ahead")
    axes.set(xlabel="trading day of the test period", title=title)
    axes.margins(x=0.01)
    legend_below(figure)
    return figure


class Panel(NamedTuple):
    """The end of one series with its forecasts.

    title: of the series.
    times: of all steps of `truth`, as numbers or dates.
    truth: the series, NaN where a step has no value.
    forecasts: (first step, (steps, 3) lower, middle and upper quantile) of each forecast.
    """

    title: str
    times: ArrayLike
    truth: ArrayLike
    forecasts: Sequence[tuple[int, ArrayLike]]


@styled
def forecast_bands(panels: Sequence[Panel], label: str = "") -> Figure:
    """Series, and forecasts with the band between the outer quantiles.

    panels: one for each series.
    label: of the values.
    """
    figure = canvas(11.0, 1.4 + 3.4 * len(panels))
    every = figure.subplots(len(panels), 1, squeeze=False)[:, 0]
    for axes, panel in zip(every, panels, strict=True):
        times, y = np.asarray(panel.times), np.asarray(panel.truth, float)
        axes.plot(times, y, color=BLUE, lw=1.6, label="true")
        for first, found in panel.forecasts:
            low, middle, high = array("forecast", found, "N", 3).T
            shown = times[first : first + len(middle)]
            axes.fill_between(shown, low, high, color=tint(ORANGE, 0.3), lw=0, label="80 % band")
            axes.plot(shown, middle, color=ORANGE, lw=1.9, label="forecast")
            axes.axvline(shown[0], color=QUIET, lw=0.8, ls=":")
        axes.set(title=panel.title, ylabel=label)
        axes.margins(x=0.01)
    handles, names = every[0].get_legend_handles_labels()
    once = dict(zip(names, handles, strict=True))
    figure.legend(once.values(), once.keys(), loc="outside lower center", ncols=len(once))
    return figure


@styled
def error_by_step(errors: Mapping[str, ArrayLike], title: str = "", label: str = "") -> Figure:
    """The error of each method by how many steps ahead it forecasts.

    errors: one value per step ahead, by method.
    """
    figure = canvas(8.0, 4.8)
    axes = figure.add_subplot()
    for number, (name, values) in enumerate(errors.items()):
        y = array(name, values, "N")
        ahead = np.arange(1, len(y) + 1)
        axes.plot(ahead, y, color=color(number), marker=marker(number), ms=5, label=name)
    axes.set(xlabel="steps ahead", ylabel=label, title=title)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    legend_below(figure)
    return figure

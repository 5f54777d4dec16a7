"""Time series: forecasts against the truth."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.plots.checks import array, same_lengths
from chainrule.plots.palette import BLUE, ORANGE, QUIET
from chainrule.plots.style import canvas, legend_below, styled


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

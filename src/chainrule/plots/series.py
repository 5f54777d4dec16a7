"""Pictures of a series in time: what came, and what was foretold."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.plots.checks import array, same_lengths
from chainrule.plots.style import PALETTE, QUIET, canvas, drawn, legend_below


@drawn
def forecast(truth: ArrayLike, foretold: ArrayLike, title: str = "") -> Figure:
    """Both values of each day, side by side along the time axis."""
    y, f = array("truth", truth, "N"), array("foretold", foretold, "N")
    same_lengths(truth=y, foretold=f)
    figure = canvas(11.0, 4.8)
    axes = figure.add_subplot()
    days = np.arange(1, len(y) + 1)
    axes.axhline(0, color=QUIET, lw=0.8)
    axes.plot(days, y, color=PALETTE[0], lw=1.6, label="what came")
    axes.plot(days, f, color=PALETTE[1], lw=1.9, label="foretold the day before")
    axes.set(xlabel="trading days of the test period", title=title)
    axes.margins(x=0.01)
    legend_below(figure)
    return figure

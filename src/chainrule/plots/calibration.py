"""Reliability diagram: accuracy of a classifier against its confidence."""

from collections.abc import Mapping
from textwrap import fill
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.palette import QUIET
from chainrule.plots.style import canvas, color, in_percent, marker, styled


class Bins(NamedTuple):
    """Calibration of one classifier.

    confidence: the mean confidence of each bin.
    accuracy: the accuracy within each bin.
    number: the examples in each bin.
    error: the expected calibration error over all bins.
    """

    confidence: ArrayLike
    accuracy: ArrayLike
    number: ArrayLike
    error: float


@styled
def reliability_diagram(series: Mapping[str, Bins], title: str = "") -> Figure:
    """Accuracy against confidence, above a histogram of the confidence.

    A calibrated classifier lies on the diagonal, an overconfident one below it.

    series: the bins of each classifier by name.
    """
    if not series:
        raise InputError("expected a classifier to draw, got none")
    figure = canvas(7.5, 8.0)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    above.axline((0, 0), slope=1, color=QUIET, ls=(0, (5, 3)), lw=1.2)
    for index, (name, bins) in enumerate(series.items()):
        x, y, n = (array(f"{name}: {w}", v, "N").astype(float) for w, v in _parts(bins))
        same_lengths(confidence=x, accuracy=y, number=n)
        known = n > 0
        label = f"{name}: expected calibration error {100 * bins.error:.2f} %"
        look = {"color": color(index), "marker": marker(index), "mec": "white", "ms": 9}
        above.plot(x[known], y[known], label=label, **look)
        edges = np.linspace(0, 1, len(n) + 1)
        below.stairs(n / n.sum(), edges, color=color(index), lw=2)
    above.set(ylim=(0, 1.02), ylabel="accuracy")
    above.set_title(fill(title, 55))
    above.legend(loc="upper left")
    below.set(xlim=(0, 1), xlabel="confidence", ylabel="examples")
    for axis in (above.yaxis, below.xaxis, below.yaxis):
        in_percent(axis)
    return figure


def _parts(bins: Bins) -> list[tuple[str, ArrayLike]]:
    return list(zip(bins._fields, bins, strict=True))[:3]

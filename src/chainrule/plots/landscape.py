"""The loss on a plane of weight space, with paths of optimizers. Notes: A 1.3.10, figure 1.8."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array
from chainrule.plots.style import canvas, color, legend_below, styled


@styled
def loss_landscape(
    a: ArrayLike, b: ArrayLike, loss: ArrayLike, paths: Mapping[str, ArrayLike], title: str = ""
) -> Figure:
    """Contours of the loss over (a, b), logarithmically spaced, and each path with its end.

    a, b: Coordinates of the columns and rows of `loss`.
    loss: Positive values, one row for every b.
    paths: Points (a, b) of each optimizer, in order.
    """
    x, y, z = array("a", a, "N"), array("b", b, "N"), np.asarray(loss, dtype=float)
    if z.shape != (len(y), len(x)) or not (z > 0).all():
        raise InputError(
            f"expected positive losses of shape {len(y)} × {len(x)}, got shape {z.shape} with "
            f"smallest value {z.min():.3g}"
        )
    figure = canvas(8.0, 6.5)
    axes = figure.add_subplot(xlabel="first direction", ylabel="second direction", title=title)
    levels = np.geomspace(z.min(), z.max(), 25)
    filled = axes.contourf(x, y, np.log10(z), np.log10(levels), cmap="Blues_r")
    axes.contour(x, y, np.log10(z), np.log10(levels), colors="white", linewidths=0.5)
    figure.colorbar(filled, ax=axes, label="log₁₀ loss", format="%.1f")
    for index, (name, path) in enumerate(paths.items(), 1):
        points = np.asarray(path, dtype=float)
        axes.plot(*points.T, color=color(index), lw=2, label=name)
        axes.plot(*points[-1], color=color(index), marker="o", ms=8, mec="white")
    axes.set(xlim=(x.min(), x.max()), ylim=(y.min(), y.max()))
    legend_below(figure)
    return figure

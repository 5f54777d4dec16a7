"""Functions of the plane: decision boundaries and linear regions. Notes: A 1.2.2."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import (
    GridPrediction,
    Predict,
    array,
    class_margin,
    labeled_points,
    predict_on_grid,
    same_lengths,
)
from chainrule.plots.palette import INK
from chainrule.plots.style import canvas, color, legend_below, marker, shortened, styled, tint

MARGINS = (0, 0.2, 0.4, 0.6, 0.8, 1.001)  # slightly above 1, so that rounding leaves no hole
STRENGTHS = (0.12, 0.21, 0.30, 0.39, 0.48)  # of the color, band by band


@styled
def decision_boundary(
    predict: Predict,
    x: ArrayLike,
    y: ArrayLike,
    classes: Sequence[str],
    mistakes: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """The plane in the color of the predicted class, stronger where it is more probable.

    The bands are steps of a fifth in the margin over the next class, or in the score relative to
    its largest absolute value.

    predict: maps points (M, 2) to probabilities (M, K), or for two classes to a signed score (M,)
        that is positive for the second.
    x: (N, 2) points.
    y: their true classes.
    classes: the class names.
    mistakes: True for the points to be ringed.
    """
    points, truth = labeled_points(x, y, classes)
    ringed = np.zeros(len(points), bool) if mistakes is None else array("mistakes", mistakes, "N")
    same_lengths(x=points, mistakes=ringed)
    plane = predict_on_grid(predict, points, len(classes), side=240)
    figure = canvas(8.0, 6.5)
    axes = figure.add_subplot()
    _paint(axes, plane)
    _key(axes, plane)
    _scatter(axes, points, truth, shortened(classes))
    _ring(axes, points[ringed.astype(bool)])
    axes.grid(False)
    axes.set(title=fill(title, 60), xlabel="x₁", ylabel="x₂")
    legend_below(figure)
    return figure


@styled
def linear_regions(
    polygons: Sequence[ArrayLike], values: ArrayLike, title: str = "", value_label: str = ""
) -> Figure:
    """The linear regions of a piecewise linear network on the plane.

    polygons: (V, 2) corners of each region, in order.
    values: the number that colors each region.
    value_label: what the number is.
    """
    corners = [array("a polygon", polygon, "V", 2) for polygon in polygons]
    heights = array("values", values, "N").astype(float)
    same_lengths(polygons=corners, values=heights)
    if not corners:
        raise InputError("expected one polygon or more, got none")
    figure = canvas(8.0, 6.5)
    axes = figure.add_subplot(aspect="equal")
    regions = PolyCollection(corners, cmap="viridis", edgecolors="white", linewidths=0.7)
    regions.set_array(heights)
    axes.add_collection(regions)
    axes.autoscale_view()
    axes.margins(0)
    axes.grid(False)
    axes.set(title=title, xlabel="x₁", ylabel="x₂")
    scale = figure.colorbar(regions, label=value_label, shrink=0.8)
    scale.outline.set_visible(False)
    return figure


def _paint(axes: Axes, plane: GridPrediction) -> None:
    """The region of each predicted class in bands, and the decision boundary as a line."""
    for k in range(plane.p.shape[-1]):
        margin = class_margin(plane.p, k)
        bands = [tint(color(k), strength) for strength in STRENGTHS]
        if margin.max() > 0:
            axes.contourf(plane.x_1, plane.x_2, margin, MARGINS, colors=bands)
        if k > 0 and margin.min() < 0 < margin.max():
            axes.contour(plane.x_1, plane.x_2, margin, [0], colors=INK, linewidths=1.6)


def _key(axes: Axes, plane: GridPrediction) -> None:
    """A color scale beside the plane, one column per class."""
    k = plane.p.shape[-1]
    bands = [[tint(color(i), strength) for i in range(k)] for strength in STRENGTHS]
    key = axes.inset_axes((1.03, 0.2, min(0.03 * k, 0.15), 0.6))
    key.imshow(bands, origin="lower", aspect="auto", extent=(0, k, 0, 1))
    key.grid(False)
    key.spines[:].set_visible(False)
    key.set_xticks([])
    key.yaxis.set_label_position("right")
    key.yaxis.tick_right()
    if plane.meaning != "probability":
        label, ticks = "score / largest |score|", [f"{m:.1f}" for m in MARGINS]
    elif k == 2:
        label = "probability of the predicted class"
        ticks = [f"{50 + 50 * m:.0f} %" for m in MARGINS]
    else:
        label = "margin of the predicted class over the next"
        ticks = [f"{100 * m:.0f} %" for m in MARGINS]
    key.set_yticks(np.minimum(MARGINS, 1.0), ticks)
    key.set_ylabel(label)


def _scatter(
    axes: Axes,
    points: Float[np.ndarray, "n 2"],
    truth: Int[np.ndarray, " n"],
    classes: Sequence[str],
) -> None:
    size = 60 if len(points) <= 400 else 28
    for k, name in enumerate(classes):
        x_1, x_2 = points[truth == k].T
        axes.scatter(x_1, x_2, s=size, label=name, zorder=3, **class_look(k))


def class_look(k: int) -> dict[str, Any]:
    """Color and marker of the points of class k."""
    return {"color": color(k), "marker": marker(k), "edgecolors": "white", "linewidths": 0.8}


def _ring(axes: Axes, points: Float[np.ndarray, "n 2"]) -> None:
    if len(points):
        look: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "linewidths": 1.8}
        name = f"mistakes ({len(points)})"
        axes.scatter(points[:, 0], points[:, 1], s=190, label=name, zorder=4, **look)

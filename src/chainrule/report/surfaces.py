"""Functions of the plane: decision boundaries, decision surfaces, regions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.report.checks import array, labels, same_lengths
from chainrule.report.style import (
    INK,
    canvas,
    colour,
    drawn,
    legend_below,
    marker,
    tint,
)

Predict = Callable[[np.ndarray], ArrayLike]
LEADS = (0, 0.25, 0.5, 0.75, 1.001)  # a little over 1, so that rounding leaves no hole
FLOOR = -0.6  # where a 3-D picture repeats the plane


class Plane(NamedTuple):
    """A grid over the plane and the probability of each class on it, or what stands for it."""

    x_1: Float[np.ndarray, "side side"]
    x_2: Float[np.ndarray, "side side"]
    p: Float[np.ndarray, "side side k"]
    meaning: str


@drawn
def decision_boundary(
    predict: Predict,
    x: ArrayLike,
    y: ArrayLike,
    classes: Sequence[str],
    mistakes: ArrayLike | None = None,
) -> Figure:
    """The plane in the colour of the class that wins, deeper where it wins by more.

    `predict` maps points (M, 2) to probabilities (M, K), or for two classes to a signed score (M,)
    that is positive for the second. The bands are steps of a quarter in the lead over the next
    class (of the score: relative to its largest). `mistakes` is True for the points to be ringed.
    """
    points, truth = _points(x, y, classes)
    ringed = np.zeros(len(points), bool) if mistakes is None else array("mistakes", mistakes, "N")
    same_lengths(x=points, mistakes=ringed)
    plane = _plane(predict, points, len(classes), side=240)
    figure = canvas(8.0, 6.5)
    axes = figure.add_subplot()
    _paint(axes, plane)
    _scatter(axes, points, truth, classes)
    _ring(axes, points[ringed.astype(bool)])
    axes.grid(False)
    axes.set(xlabel="$x_1$", ylabel="$x_2$")
    legend_below(figure)
    return figure


@drawn
def decision_surface(
    predict: Predict, x: ArrayLike, y: ArrayLike, classes: Sequence[str]
) -> Figure:
    """The probability as a landscape over the plane, its contours on the floor beneath.

    For two classes the height is the probability of the second, and the points lie where a
    perfect model would put them, at 0 or 1. For more it is the probability of the winner, in the
    winner's colour, with the points on the floor. `predict` is as in `decision_boundary`;
    a score is scaled into 0 … 1 with the boundary at 0.5.
    """
    points, truth = _points(x, y, classes)
    side = 60 if len(classes) == 2 else 110
    plane = _plane(predict, points, len(classes), side)
    two = len(classes) == 2
    height = plane.p[..., 1] if two else plane.p.max(-1)
    figure = canvas(8.5, 7.0)
    axes = figure.add_subplot(projection="3d", computed_zorder=False)
    _paint(axes, plane, zdir="z", offset=FLOOR, zorder=0)
    axes.plot_surface(
        plane.x_1,
        plane.x_2,
        height,
        facecolors=_faces(plane.p),
        rcount=side,
        ccount=side,
        linewidth=0.25 if len(classes) == 2 else 0.05,
        edgecolor=(1, 1, 1, 0.5),
        shade=False,
        alpha=0.93,
        zorder=2,
        rasterized=True,
    )
    _lay_points(axes, points, truth, classes)
    axes.view_init(elev=28, azim=-62)
    axes.set_box_aspect((4, 4, 3), zoom=1.12)
    axes.locator_params(nbins=5)
    axes.set(zlim=(FLOOR, 1.0), zticks=[0, 0.5, 1])
    axes.set_xlabel("$x_1$", labelpad=10)
    axes.set_ylabel("$x_2$", labelpad=10)
    axes.set_title(f"{plane.meaning} of {classes[1] if two else 'the likeliest class'}")
    legend_below(figure)
    return figure


@drawn
def polygons(
    polygons: Sequence[ArrayLike], values: ArrayLike, title: str = "", value_label: str = ""
) -> Figure:
    """Convex pieces of the plane, each (V, 2) corners in turn, coloured by its value."""
    corners = [array("a polygon", polygon, "V", 2) for polygon in polygons]
    heights = array("values", values, "N").astype(float)
    same_lengths(polygons=corners, values=heights)
    if not corners:
        raise InputError("expected one polygon or more, got none")
    figure = canvas(8.0, 6.5)
    axes = figure.add_subplot(aspect="equal")
    pieces = PolyCollection(corners, cmap="viridis", edgecolors="white", linewidths=0.7)
    pieces.set_array(heights)
    axes.add_collection(pieces)
    axes.autoscale_view()
    axes.margins(0)
    axes.grid(False)
    axes.set(title=title, xlabel="$x_1$", ylabel="$x_2$")
    scale = figure.colorbar(pieces, label=value_label, shrink=0.8)
    scale.outline.set_visible(False)
    return figure


def _points(
    x: ArrayLike, y: ArrayLike, classes: Sequence[str]
) -> tuple[Float[np.ndarray, "n 2"], Int[np.ndarray, " n"]]:
    points, truth = array("x", x, "N", 2).astype(float), labels("y", y, classes)
    same_lengths(x=points, y=truth)
    if not len(points) or len(classes) < 2:
        raise InputError(
            "expected one point or more and two classes or more, "
            f"got {len(points)} and {len(classes)}"
        )
    return points, truth


def _plane(predict: Predict, points: Float[np.ndarray, "n 2"], classes: int, side: int) -> Plane:
    """The classes' probabilities on a square grid that reaches a little beyond the points."""
    low, high = points.min(0), points.max(0)
    edge = np.where(high > low, 0.12 * (high - low), 1.0)
    x_1, x_2 = np.meshgrid(*np.linspace(low - edge, high + edge, side).T)
    found = np.asarray(predict(np.stack([x_1.ravel(), x_2.ravel()], axis=1)), dtype=float)
    meaning = "probability"
    if found.shape == (side * side,) and classes == 2:
        meaning = "scaled score"
        rising = 0.5 + 0.5 * found / (np.abs(found).max() or 1.0)
        found = np.stack([1 - rising, rising], axis=1)
    found = array("what predict returns", found, side * side, classes)
    if not (found.min() >= -1e-6 and found.max() <= 1 + 1e-6):
        raise InputError(
            f"expected predict to return probabilities, got values from {found.min():.3g} "
            f"to {found.max():.3g}; apply softmax first"
        )
    return Plane(x_1, x_2, found.reshape(side, side, classes), meaning)


def _lead(p: Float[np.ndarray, "side side k"], k: int) -> Float[np.ndarray, "side side"]:
    """By how much class k is likelier than the likeliest other."""
    return p[..., k] - np.delete(p, k, axis=-1).max(-1)


def _faces(p: Float[np.ndarray, "side side k"]) -> Float[np.ndarray, "side side 3"]:
    """The winner's colour, paler towards a tie."""
    k = p.shape[-1]
    lead = np.stack([_lead(p, i) for i in range(k)], axis=-1)
    strength = 0.15 + 0.75 * np.clip(lead.max(-1, keepdims=True), 0, 1)
    colours = np.array([tint(colour(i), 1.0) for i in range(k)])
    return 1 - strength * (1 - colours[p.argmax(-1)])


def _paint(axes: Axes, plane: Plane, **where: Any) -> None:
    """Each class where it leads, in four bands, and a line where the lead changes hands."""
    for k in range(plane.p.shape[-1]):
        lead = _lead(plane.p, k)
        bands = [tint(colour(k), strength) for strength in (0.12, 0.24, 0.36, 0.48)]
        if lead.max() > 0:
            axes.contourf(plane.x_1, plane.x_2, lead, LEADS, colors=bands, **where)
        if k > 0 and lead.min() < 0 < lead.max():
            axes.contour(plane.x_1, plane.x_2, lead, [0], colors=INK, linewidths=1.6, **where)


def _scatter(
    axes: Axes,
    points: Float[np.ndarray, "n 2"],
    truth: Int[np.ndarray, " n"],
    classes: Sequence[str],
) -> None:
    size = 60 if len(points) <= 400 else 28
    for k, name in enumerate(classes):
        axes.scatter(
            points[truth == k, 0],
            points[truth == k, 1],
            s=size,
            color=colour(k),
            marker=marker(k),
            edgecolors="white",
            linewidths=0.9,
            label=name,
            zorder=3,
        )


def _ring(axes: Axes, points: Float[np.ndarray, "n 2"]) -> None:
    if len(points):
        axes.scatter(
            points[:, 0],
            points[:, 1],
            s=190,
            facecolors="none",
            edgecolors=INK,
            linewidths=1.8,
            label=f"mistakes ({len(points)})",
            zorder=4,
        )


def _lay_points(
    axes: Axes3D,
    points: Float[np.ndarray, "n 2"],
    truth: Int[np.ndarray, " n"],
    classes: Sequence[str],
) -> None:
    """Points of a 3-D picture: below the surface drawn before it, above it afterwards."""
    for k, name in enumerate(classes):
        chosen = points[truth == k]
        height = np.full(len(chosen), float(k) if len(classes) == 2 else FLOOR)
        axes.scatter(
            chosen[:, 0],
            chosen[:, 1],
            zs=height,
            s=32,
            color=colour(k),
            marker=marker(k),
            edgecolors="white",
            linewidths=0.6,
            depthshade=False,
            label=name,
            zorder=3 if height.size and height[0] == 1 else 1,
        )

"""Functions of the plane: decision boundaries, decision surfaces, regions. Notes: A 1.2.2."""

from collections.abc import Sequence
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from contourpy import contour_generator
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter, map_coordinates

from chainrule.errors import InputError
from chainrule.plots.checks import (
    Plane,
    Predict,
    array,
    labeled_points,
    lead_of,
    plane_of,
    same_lengths,
)
from chainrule.plots.style import INK, canvas, color, drawn, legend_below, marker, shortened, tint

LEADS = (0, 0.2, 0.4, 0.6, 0.8, 1.001)  # a little over 1, so that rounding leaves no hole
DEPTHS = (0.12, 0.21, 0.30, 0.39, 0.48)  # of the color, band by band
CELLS = 130  # along each side of a sheet
SMOOTH = {"rcount": 2 * CELLS, "ccount": 2 * CELLS, "linewidth": 0, "antialiased": False}
SMOOTH |= {"shade": False, "rasterized": True}
MESH = 10  # cells from one line of the mesh to the next
AZIMUTHS = (
    -60.0,
    -120.0,
    60.0,
    120.0,
    -30.0,
    -150.0,
    30.0,
    150.0,
)  # degrees; of equals the first is taken
ELEVATIONS = ((38.0, 0.55), (50.0, 0.3))  # degrees, and height of the box over its width


class View(NamedTuple):
    """Where the camera stands, in degrees, and the height of the box over its width."""

    elevation: float
    azimuth: float
    tall: float


class Sheet(NamedTuple):
    """A height over the rectangle from low to high."""

    low: Float[np.ndarray, " 2"]
    high: Float[np.ndarray, " 2"]
    height: Float[np.ndarray, "side side"]


@drawn
def decision_boundary(
    predict: Predict,
    x: ArrayLike,
    y: ArrayLike,
    classes: Sequence[str],
    mistakes: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """The plane in the color of the class that wins, deeper where it wins by more.

    `predict` maps points (M, 2) to probabilities (M, K), or for two classes to a signed score (M,)
    that is positive for the second. The bands, which a key explains, are steps of a fifth in
    the lead over the next class (of the score: relative to its largest). `mistakes` is True for
    the points to be ringed.
    """
    points, truth = labeled_points(x, y, classes)
    ringed = np.zeros(len(points), bool) if mistakes is None else array("mistakes", mistakes, "N")
    same_lengths(x=points, mistakes=ringed)
    plane = plane_of(predict, points, len(classes), side=240)
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


@drawn
def decision_surface(
    predict: Predict, x: ArrayLike, y: ArrayLike, classes: Sequence[str], title: str = ""
) -> Figure:
    """The probability as a sheet over the plane, with the points on it and the boundary as a line.

    For two classes the height is the probability of the second, for more that of the winner; the
    sheet has the winner's color and a point that of its true class. The camera stands where it
    sees most of every class; points behind a fold are drawn pale. Heights are smoothed over a
    hundredth of the width. `predict` is as in `decision_boundary`; a score is scaled into 0 … 1
    with the boundary at 0.5.
    """
    points, truth = labeled_points(x, y, classes)
    names = shortened(classes)
    plane = _smoothed(plane_of(predict, points, len(classes), side=2 * CELLS + 1))
    two = len(classes) == 2
    height = plane.p[..., 1] if two else plane.p.max(-1)
    low, high = (np.array([at(plane.x_1), at(plane.x_2)]) for at in (np.min, np.max))
    sheet = Sheet(low, high, height)
    view = _best_view(sheet, [points[truth == k] for k in range(len(classes))])
    figure = canvas(9.0, 7.0)
    axes = figure.add_subplot(projection="3d", computed_zorder=False, proj_type="ortho")
    axes.plot_surface(plane.x_1, plane.x_2, height, facecolors=_faces(plane.p), zorder=1, **SMOOTH)
    _lay_boundary(axes, plane, sheet, view)
    for k, name in enumerate(names):
        _lay_points(axes, sheet, points[truth == k], view, k, name)
    axes.view_init(view.elevation, view.azimuth)
    axes.set_box_aspect((1, 1, view.tall), zoom=0.98)
    axes.locator_params(nbins=5)
    axes.set(zlim=(0, 1), zticks=[0, 0.5, 1])
    axes.set_xlabel("x₁", labelpad=10)
    axes.set_ylabel("x₂", labelpad=10)
    axes.set_zlabel(f"{plane.meaning} of {names[1] if two else 'the likeliest class'}", labelpad=8)
    axes.set_title(fill(title, 60))
    legend_below(figure)
    return figure


@drawn
def polygons(
    polygons: Sequence[ArrayLike], values: ArrayLike, title: str = "", value_label: str = ""
) -> Figure:
    """Convex pieces of the plane, each (V, 2) corners in turn, colored by its value."""
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
    axes.set(title=title, xlabel="x₁", ylabel="x₂")
    scale = figure.colorbar(pieces, label=value_label, shrink=0.8)
    scale.outline.set_visible(False)
    return figure


def _faces(p: Float[np.ndarray, "side side k"]) -> Float[np.ndarray, "side side 3"]:
    """The winner's color, paler toward a tie and along the lines of a mesh."""
    k = p.shape[-1]
    lead = np.stack([lead_of(p, i) for i in range(k)], axis=-1)
    strength = 0.12 + 0.6 * np.clip(lead.max(-1, keepdims=True), 0, 1)
    strength[::MESH] *= 0.8
    strength[:, ::MESH] *= 0.8
    colors = np.array([tint(color(i), 1.0) for i in range(k)])
    return 1 - strength * (1 - colors[p.argmax(-1)])


def _smoothed(plane: Plane) -> Plane:
    """Every second place, each a mean over its neighbors: a sudden step without teeth."""
    p = gaussian_filter(plane.p, (2, 2, 0), mode="nearest")
    return Plane(plane.x_1[::2, ::2], plane.x_2[::2, ::2], p[::2, ::2], plane.meaning)


def _height(sheet: Sheet, points: Float[np.ndarray, "*n 2"]) -> Float[np.ndarray, "*n"]:
    """The height of the sheet over points of the plane, read between the places of the grid."""
    place = (points - sheet.low) / (sheet.high - sheet.low) * (len(sheet.height) - 1)
    return map_coordinates(
        sheet.height, np.moveaxis(place[..., ::-1], -1, 0), order=1, mode="nearest"
    )


def _seen(sheet: Sheet, points: Float[np.ndarray, "n 2"], view: View) -> Bool[np.ndarray, " n"]:
    """Whether the line from the sheet at a point to the camera meets the sheet nowhere else."""
    angle, rise = np.deg2rad(view.azimuth), np.tan(np.deg2rad(view.elevation)) / view.tall
    far = np.linspace(0.005, 1 / rise, 80)
    along = far[:, None] * [np.cos(angle), np.sin(angle)] * (sheet.high - sheet.low)
    path = points[:, None] + along
    sight = _height(sheet, points)[:, None] + rise * far
    inside = ((path >= sheet.low) & (path <= sheet.high)).all(-1)
    return ~(inside & (_height(sheet, path) > sight + 0.01)).any(1)


def _paint(axes: Axes, plane: Plane) -> None:
    """Each class where it leads, in bands, and a line where the lead changes hands."""
    for k in range(plane.p.shape[-1]):
        lead = lead_of(plane.p, k)
        bands = [tint(color(k), strength) for strength in DEPTHS]
        if lead.max() > 0:
            axes.contourf(plane.x_1, plane.x_2, lead, LEADS, colors=bands)
        if k > 0 and lead.min() < 0 < lead.max():
            axes.contour(plane.x_1, plane.x_2, lead, [0], colors=INK, linewidths=1.6)


def _key(axes: Axes, plane: Plane) -> None:
    """Beside the plane a column of bands for each class, with what they stand for."""
    k = plane.p.shape[-1]
    bands = [[tint(color(i), strength) for i in range(k)] for strength in DEPTHS]
    key = axes.inset_axes((1.03, 0.2, min(0.03 * k, 0.15), 0.6))
    key.imshow(bands, origin="lower", aspect="auto", extent=(0, k, 0, 1))
    key.grid(False)
    key.spines[:].set_visible(False)
    key.set_xticks([])
    key.yaxis.set_label_position("right")
    key.yaxis.tick_right()
    if plane.meaning != "probability":
        label, ticks = "score, as a share of its largest", [f"{lead:.1f}" for lead in LEADS]
    elif k == 2:
        label = "probability of the winning class"
        ticks = [f"{50 + 50 * lead:.0f} %" for lead in LEADS]
    else:
        label = "lead of the winning class over the next"
        ticks = [f"{100 * lead:.0f} %" for lead in LEADS]
    key.set_yticks(np.minimum(LEADS, 1.0), ticks)
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
        axes.scatter(x_1, x_2, s=size, label=name, zorder=3, **_look(k))


def _look(k: int) -> dict[str, Any]:
    """Of the points of class k."""
    return {"color": color(k), "marker": marker(k), "edgecolors": "white", "linewidths": 0.8}


def _ring(axes: Axes, points: Float[np.ndarray, "n 2"]) -> None:
    if len(points):
        look: dict[str, Any] = {"facecolors": "none", "edgecolors": INK, "linewidths": 1.8}
        name = f"mistakes ({len(points)})"
        axes.scatter(points[:, 0], points[:, 1], s=190, label=name, zorder=4, **look)


def _best_view(sheet: Sheet, groups: Sequence[Float[np.ndarray, "_ 2"]]) -> View:
    """Where the camera sees most of the worst seen class; flatter and from higher up if too few."""
    some = [points[:: 1 + len(points) // 200] for points in groups if len(points)]

    def share(view: View) -> float:
        return min(float(_seen(sheet, points, view).mean()) for points in some)

    for elevation, tall in ELEVATIONS:
        view = max((View(elevation, azimuth, tall) for azimuth in AZIMUTHS), key=share)
        if share(view) > 0.8:
            break
    return view


def _lay_boundary(axes: Axes3D, plane: Plane, sheet: Sheet, view: View) -> None:
    """The line on the sheet where the lead changes hands, as far as it is seen."""
    for k in range(1, plane.p.shape[-1]):
        contours = contour_generator(plane.x_1, plane.x_2, lead_of(plane.p, k))
        for line in map(np.asarray, contours.lines(0.0)):
            height = np.where(_seen(sheet, line, view), _height(sheet, line), np.nan)
            axes.plot(*line.T, height, color=INK, lw=1.6, zorder=3)


def _lay_points(
    axes: Axes3D,
    sheet: Sheet,
    points: Float[np.ndarray, "n 2"],
    view: View,
    k: int,
    name: str,
) -> None:
    """The points of class k on the sheet: full where the camera sees them, pale elsewhere."""
    seen = _seen(sheet, points, view)
    for chosen, depth, label in ((points[~seen], 0.3, "_behind"), (points[seen], 1.0, name)):
        axes.scatter(
            *chosen.T,
            zs=_height(sheet, chosen),
            s=36,
            alpha=depth,
            depthshade=False,
            label=label,
            zorder=4 if depth == 1 else 2,
            **_look(k),
        )

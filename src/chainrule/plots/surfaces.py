"""Decision surfaces: the probability of a class as a surface over the plane. Notes: A 1.2.2."""

from collections.abc import Sequence
from textwrap import fill
from typing import NamedTuple

import numpy as np
from contourpy import contour_generator
from jaxtyping import Bool, Float
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d import Axes3D
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter, map_coordinates

from chainrule.plots.boundaries import class_look
from chainrule.plots.checks import (
    GridPrediction,
    Predict,
    class_margin,
    labeled_points,
    predict_on_grid,
)
from chainrule.plots.palette import INK
from chainrule.plots.style import canvas, color, legend_below, shortened, styled, tint

CELLS = 130  # along each side of the surface
SMOOTH = {"rcount": 2 * CELLS, "ccount": 2 * CELLS, "linewidth": 0, "antialiased": False}
SMOOTH |= {"shade": False, "rasterized": True}
MESH = 10  # cells between two lines of the mesh
AZIMUTHS = (
    -60.0,
    -120.0,
    60.0,
    120.0,
    -30.0,
    -150.0,
    30.0,
    150.0,
)  # degrees, in order of preference
ELEVATIONS = ((38.0, 0.55), (50.0, 0.3))  # degrees, and height of the box over its width


class View(NamedTuple):
    """The direction of the camera in degrees, and the height of the box over its width."""

    elevation: float
    azimuth: float
    tall: float


class Surface(NamedTuple):
    """A height over the rectangle from low to high."""

    low: Float[np.ndarray, " 2"]
    high: Float[np.ndarray, " 2"]
    height: Float[np.ndarray, "side side"]


@styled
def decision_surface(
    predict: Predict, x: ArrayLike, y: ArrayLike, classes: Sequence[str], title: str = ""
) -> Figure:
    """The probability as a surface over the plane, with the points and the decision boundary on it.

    The height is the probability of the second of two classes, or of the predicted one of more. The
    surface has the color of the predicted class, a point that of its true class. The camera is
    where it sees most of every class; hidden points are pale. Heights are smoothed over a hundredth
    of the width; a score is scaled into 0 … 1 with the boundary at 0.5.

    predict, x, y, classes: see `decision_boundary`.
    """
    points, truth = labeled_points(x, y, classes)
    names = shortened(classes)
    plane = _smoothed(predict_on_grid(predict, points, len(classes), side=2 * CELLS + 1))
    two = len(classes) == 2
    height = plane.p[..., 1] if two else plane.p.max(-1)
    low, high = (np.array([at(plane.x_1), at(plane.x_2)]) for at in (np.min, np.max))
    surface = Surface(low, high, height)
    view = _best_view(surface, [points[truth == k] for k in range(len(classes))])
    figure = canvas(9.0, 7.0)
    axes = figure.add_subplot(projection="3d", computed_zorder=False, proj_type="ortho")
    axes.plot_surface(plane.x_1, plane.x_2, height, facecolors=_faces(plane.p), zorder=1, **SMOOTH)
    _draw_boundary(axes, plane, surface, view)
    for k, name in enumerate(names):
        _draw_points(axes, surface, points[truth == k], view, k, name)
    axes.view_init(view.elevation, view.azimuth)
    axes.set_box_aspect((1, 1, view.tall), zoom=0.98)
    axes.locator_params(nbins=5)
    axes.set(zlim=(0, 1), zticks=[0, 0.5, 1])
    axes.set_xlabel("x₁", labelpad=10)
    axes.set_ylabel("x₂", labelpad=10)
    axes.set_zlabel(f"{plane.meaning} of {names[1] if two else 'the predicted class'}", labelpad=8)
    axes.set_title(fill(title, 60))
    legend_below(figure)
    return figure


def _faces(p: Float[np.ndarray, "side side k"]) -> Float[np.ndarray, "side side 3"]:
    """The color of the predicted class, paler near the boundary and along the mesh."""
    k = p.shape[-1]
    margin = np.stack([class_margin(p, i) for i in range(k)], axis=-1)
    strength = 0.12 + 0.6 * np.clip(margin.max(-1, keepdims=True), 0, 1)
    strength[::MESH] *= 0.8
    strength[:, ::MESH] *= 0.8
    colors = np.array([tint(color(i), 1.0) for i in range(k)])
    return 1 - strength * (1 - colors[p.argmax(-1)])


def _smoothed(plane: GridPrediction) -> GridPrediction:
    """Every second grid point, averaged over its neighbors, so that steps have smooth edges."""
    p = gaussian_filter(plane.p, (2, 2, 0), mode="nearest")
    return GridPrediction(plane.x_1[::2, ::2], plane.x_2[::2, ::2], p[::2, ::2], plane.meaning)


def _height(surface: Surface, points: Float[np.ndarray, "*n 2"]) -> Float[np.ndarray, "*n"]:
    """The height of the surface at points of the plane, interpolated."""
    place = (points - surface.low) / (surface.high - surface.low) * (len(surface.height) - 1)
    return map_coordinates(
        surface.height, np.moveaxis(place[..., ::-1], -1, 0), order=1, mode="nearest"
    )


def _visible(
    surface: Surface, points: Float[np.ndarray, "n 2"], view: View
) -> Bool[np.ndarray, " n"]:
    """Whether the camera sees the surface at each point."""
    angle, rise = np.deg2rad(view.azimuth), np.tan(np.deg2rad(view.elevation)) / view.tall
    far = np.linspace(0.005, 1 / rise, 80)
    along = far[:, None] * [np.cos(angle), np.sin(angle)] * (surface.high - surface.low)
    path = points[:, None] + along
    sight = _height(surface, points)[:, None] + rise * far
    inside = ((path >= surface.low) & (path <= surface.high)).all(-1)
    return ~(inside & (_height(surface, path) > sight + 0.01)).any(1)


def _best_view(surface: Surface, groups: Sequence[Float[np.ndarray, "_ 2"]]) -> View:
    """The view that shows most of the least visible class; from higher up if that is too little."""
    some = [points[:: 1 + len(points) // 200] for points in groups if len(points)]

    def share(view: View) -> float:
        return min(float(_visible(surface, points, view).mean()) for points in some)

    for elevation, tall in ELEVATIONS:
        view = max((View(elevation, azimuth, tall) for azimuth in AZIMUTHS), key=share)
        if share(view) > 0.8:
            break
    return view


def _draw_boundary(axes: Axes3D, plane: GridPrediction, surface: Surface, view: View) -> None:
    """The visible part of the decision boundary on the surface."""
    for k in range(1, plane.p.shape[-1]):
        contours = contour_generator(plane.x_1, plane.x_2, class_margin(plane.p, k))
        for line in map(np.asarray, contours.lines(0.0)):
            height = np.where(_visible(surface, line, view), _height(surface, line), np.nan)
            axes.plot(*line.T, height, color=INK, lw=1.6, zorder=3)


def _draw_points(
    axes: Axes3D,
    surface: Surface,
    points: Float[np.ndarray, "n 2"],
    view: View,
    k: int,
    name: str,
) -> None:
    """The points of class k on the surface: strong if visible, pale if hidden."""
    visible = _visible(surface, points, view)
    for chosen, depth, label in ((points[~visible], 0.3, "_behind"), (points[visible], 1.0, name)):
        axes.scatter(
            *chosen.T,
            zs=_height(surface, chosen),
            s=36,
            alpha=depth,
            depthshade=False,
            label=label,
            zorder=4 if depth == 1 else 2,
            **class_look(k),
        )

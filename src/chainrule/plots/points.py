"""Point clouds: predicted classes, critical points, segmentation into parts.

Clouds of three dimensions are projected from the side and slightly above; near points are darker.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, labels, same_lengths
from chainrule.plots.palette import BLUE, EXTENDED_PALETTE, FAINT, INK, ORANGE, RED
from chainrule.plots.style import canvas, shortened, styled, tint

MAX_CLOUDS = 16
MAX_COLUMNS = 6
AZIMUTH, ELEVATION = np.radians(-60), np.radians(22)


@styled
def cloud_predictions(
    clouds: ArrayLike,
    truth: ArrayLike,
    predicted: ArrayLike,
    classes: Sequence[str],
    title: str = "",
) -> Figure:
    """The first 16 clouds with their class; a mistake is captioned truth → prediction.

    clouds: (N, P, 2 or 3), or (N, P, 6) with normals, which are not drawn.
    truth, predicted: the class of each cloud.
    classes: the class names.
    """
    shown = _clouds(clouds)[:MAX_CLOUDS]
    y = labels("truth", truth, classes)
    found = labels("predicted", predicted, classes)
    same_lengths(clouds=np.asarray(clouds), truth=y, predicted=found)
    names = shortened(classes, longest=12)
    columns = min(8, len(shown))
    rows = ceil(len(shown) / columns)
    figure = canvas(max(4.0, 1.75 * columns), 2.25 * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(shown) :]:
        axes.remove()
    for axes, cloud, t, p in zip(grid, shown, y, found, strict=False):
        _scatter(axes, cloud, [_shade(depth) for depth in _depths(cloud)])
        line = "\n" if len(names[t] + names[p]) > 10 else " "
        caption = names[t] if t == p else f"{names[t]} →{line}{names[p]}"
        axes.set_xlabel(caption, fontsize=12, color=INK if t == p else RED)
    figure.suptitle(title or "true class; mistakes in red: true → predicted")
    return figure


@styled
def critical_points(clouds: ArrayLike, critical: ArrayLike, captions: Sequence[str]) -> Figure:
    """Clouds above their critical points, which alone determine the prediction.

    clouds: (N, P, 2 or 3).
    critical: (N, P), True for critical points.
    captions: one per cloud.
    """
    shown, decides = _clouds(clouds)[:MAX_COLUMNS], np.asarray(critical)[:MAX_COLUMNS]
    if decides.shape != shown.shape[:2] or decides.dtype != bool:
        raise InputError(
            f"expected critical as True or False for each point, {shown.shape[:2]}, "
            f"got {decides.dtype} of shape {decides.shape}"
        )
    captions = list(captions)[: len(shown)]
    same_lengths(clouds=shown, captions=captions)
    figure = canvas(max(4.0, 2.0 * len(shown) + 1.0), 4.9)
    grid = figure.subplots(2, len(shown), squeeze=False)
    for column, (cloud, kept, caption) in enumerate(zip(shown, decides, captions, strict=True)):
        window = _window(cloud)
        _scatter(grid[0, column], cloud, [_shade(depth) for depth in _depths(cloud)], window)
        _scatter(grid[1, column], cloud[kept], [ORANGE] * int(kept.sum()), window)
        grid[0, column].set_title(caption, fontsize=12, loc="center", pad=4)
        places = len(np.unique(cloud[kept], axis=0)), len(np.unique(cloud, axis=0))
        grid[1, column].set_xlabel("{} of {}".format(*places), fontsize=12)
    for axes, name in zip(grid[:, 0], ("all points", "critical"), strict=True):
        axes.set_ylabel(name, fontsize=13, rotation=0, ha="right", va="center", labelpad=8)
    figure.suptitle("critical points: they alone give the same prediction")
    return figure


@styled
def segmented_clouds(
    clouds: ArrayLike, truth: ArrayLike, predicted: ArrayLike, classes: Sequence[str]
) -> Figure:
    """Clouds colored by the true and by the predicted part of each point.

    clouds: (N, P, 2 or 3).
    truth, predicted: (N, P), the part of each point.
    classes: the names of the parts.
    """
    shown = _clouds(clouds)[:MAX_COLUMNS]
    y, found = (
        _parts(n, v, shown, classes) for n, v in (("truth", truth), ("predicted", predicted))
    )
    figure = canvas(max(5.0, 2.0 * len(shown) + 1.0), 5.6)
    grid = figure.subplots(2, len(shown), squeeze=False)
    for column, cloud in enumerate(shown):
        for row, parts in enumerate((y, found)):
            _scatter(grid[row, column], cloud, [_color(int(k)) for k in parts[column]])
        right = np.mean(y[column] == found[column])
        grid[1, column].set_xlabel(f"{100 * right:.1f} %", fontsize=12)
    for axes, name in zip(grid[:, 0], ("truth", "predicted"), strict=True):
        axes.set_ylabel(name, fontsize=13, rotation=0, ha="right", va="center", labelpad=8)
    _legend(figure, np.union1d(y, found), classes)
    figure.suptitle("part of every point; below: point accuracy")
    return figure


@styled
def segmented_cloud(cloud: ArrayLike, predicted: ArrayLike, classes: Sequence[str]) -> Figure:
    """One cloud, plain and colored by the predicted part of every point.

    cloud: (P, 2 or 3).
    predicted: (P,), the part of each point.
    classes: the names of the parts.
    """
    read = _clouds(np.asarray(cloud)[None])
    found = _parts("predicted", np.asarray(predicted)[None], read, classes)[0]
    figure = canvas(9.0, 5.6)
    left, right = figure.subplots(1, 2)
    _scatter(left, read[0], [_shade(depth) for depth in _depths(read[0])])
    _scatter(right, read[0], [_color(int(k)) for k in found])
    left.set_title("input")
    right.set_title("predicted parts")
    _legend(figure, np.unique(found), classes)
    return figure


def project(cloud: Float[np.ndarray, "p d"]) -> tuple[np.ndarray, np.ndarray]:
    """(right, up) of every point on the screen, and its nearness; plane points stay as they are."""
    if cloud.shape[1] == 2:
        return cloud, np.zeros(len(cloud))
    x, y, z = cloud.T
    right = np.cos(AZIMUTH) * x - np.sin(AZIMUTH) * y
    away = np.sin(AZIMUTH) * x + np.cos(AZIMUTH) * y
    up = np.cos(ELEVATION) * z + np.sin(ELEVATION) * away
    return np.stack([right, up], axis=1), np.sin(ELEVATION) * z - np.cos(ELEVATION) * away


def _depths(cloud: Float[np.ndarray, "p d"]) -> Float[np.ndarray, " p"]:
    """From 0 for the farthest point to 1 for the nearest."""
    near = project(cloud)[1]
    span = np.ptp(near) if len(near) else 0.0
    return (near - near.min()) / span if span > 0 else np.ones(len(near))


def _shade(depth: float) -> tuple[float, float, float]:
    return tint(BLUE, 0.25 + 0.75 * float(depth))


def _color(number: int) -> str:
    return EXTENDED_PALETTE[number % len(EXTENDED_PALETTE)]


def _window(cloud: Float[np.ndarray, "p d"]) -> Float[np.ndarray, "2 2"]:
    """The square around a projected cloud: the smallest and the largest (right, up)."""
    flat = project(cloud)[0]
    low, high = flat.min(0), flat.max(0)
    reach = 0.55 * max(float((high - low).max()), 1e-9)
    return np.stack([(low + high) / 2 - reach, (low + high) / 2 + reach])


def _scatter(
    axes: Axes,
    cloud: Float[np.ndarray, "p d"],
    colors: Sequence[object],
    window: Float[np.ndarray, "2 2"] | None = None,
) -> None:
    """Points in a thin frame, the nearest on top."""
    flat, near = project(cloud)
    order = np.argsort(near, kind="stable")
    size = 14 if cloud.shape[1] == 2 else 5
    right, up = flat[order].T
    axes.scatter(right, up, s=size, c=[colors[k] for k in order], linewidths=0)
    low, high = _window(cloud) if window is None else window
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    axes.set_aspect("equal")
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def _clouds(value: ArrayLike) -> Float[np.ndarray, "n p d"]:
    """The coordinates of the points, without normals."""
    found = np.asarray(value, dtype=float)
    if found.ndim != 3 or not found.size or found.shape[2] not in (2, 3, 6):
        raise InputError(
            f"expected clouds of shape (N, P, 2), (N, P, 3) or (N, P, 6), got {found.shape}"
        )
    return found[..., :3]


def _parts(
    name: str, value: ArrayLike, clouds: np.ndarray, classes: Sequence[str]
) -> Int[np.ndarray, "n p"]:
    found = array(name, np.asarray(value)[: len(clouds)], *clouds.shape[:2])
    return labels(name, found.ravel(), classes).reshape(found.shape)


def _legend(figure: Figure, present: Int[np.ndarray, " k"], classes: Sequence[str]) -> None:
    """A legend of the parts that occur."""
    names = shortened(classes)
    dots = [
        Line2D([], [], marker="o", linestyle="", color=_color(int(k)), label=names[int(k)])
        for k in present
    ]
    columns = max(1, int(figure.get_figwidth() / 1.9))
    figure.legend(handles=dots, loc="outside lower center", ncols=min(columns, len(dots)))

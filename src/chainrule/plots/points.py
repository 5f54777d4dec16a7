"""Clouds of points: what was found in them, which points decide, and the part of every point.

Clouds of three dimensions are seen from the side and a little from above; nearer points are darker.
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
from chainrule.plots.style import FAINT, INK, PALETTE, canvas, drawn, shortened, tint

MOST_CLOUDS = 16
MOST_COLUMNS = 6
AZIMUTH, ELEVATION = np.radians(-60), np.radians(22)
COLORS = (*PALETTE, "#D65FA8", "#B8A300", "#7B4FB5", "#00B3A4")
WRONG = PALETTE[5]


@drawn
def answered_clouds(
    clouds: ArrayLike,
    truth: ArrayLike,
    predicted: ArrayLike,
    classes: Sequence[str],
    title: str = "",
) -> Figure:
    """The first 16 clouds (N, P, 2 or 3), each with its class, a mistake as truth → prediction."""
    shown = _clouds(clouds)[:MOST_CLOUDS]
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
        axes.set_xlabel(caption, fontsize=12, color=INK if t == p else WRONG)
    figure.suptitle(title or "the true class; in red a mistake: → what was answered")
    return figure


@drawn
def critical_clouds(clouds: ArrayLike, critical: ArrayLike, captions: Sequence[str]) -> Figure:
    """Clouds (N, P, 2 or 3) above those of their points that decide, (N, P) of True and False."""
    shown, decides = _clouds(clouds)[:MOST_COLUMNS], np.asarray(critical)[:MOST_COLUMNS]
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
        _scatter(grid[1, column], cloud[kept], [PALETTE[1]] * int(kept.sum()), window)
        grid[0, column].set_title(caption, fontsize=12, loc="center", pad=4)
        places = len(np.unique(cloud[kept], axis=0)), len(np.unique(cloud, axis=0))
        grid[1, column].set_xlabel("{} of {}".format(*places), fontsize=12)
    for axes, name in zip(grid[:, 0], ("all points", "critical"), strict=True):
        axes.set_ylabel(name, fontsize=13, rotation=0, ha="right", va="center", labelpad=8)
    figure.suptitle("without all other points the answer would be the same")
    return figure


@drawn
def segmented_clouds(
    clouds: ArrayLike, truth: ArrayLike, predicted: ArrayLike, classes: Sequence[str]
) -> Figure:
    """Clouds (N, P, 2 or 3) colored by the true part of each point, and by the predicted one."""
    shown = _clouds(clouds)[:MOST_COLUMNS]
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
    figure.suptitle("a part for every point; beneath, the share of right ones")
    return figure


@drawn
def segmented_cloud(cloud: ArrayLike, predicted: ArrayLike, classes: Sequence[str]) -> Figure:
    """One cloud (P, 2 or 3) as it was read, and colored by the part of every point."""
    read = _clouds(np.asarray(cloud)[None])
    found = _parts("predicted", np.asarray(predicted)[None], read, classes)[0]
    figure = canvas(9.0, 5.6)
    left, right = figure.subplots(1, 2)
    _scatter(left, read[0], [_shade(depth) for depth in _depths(read[0])])
    _scatter(right, read[0], [_color(int(k)) for k in found])
    left.set_title("as it was read")
    right.set_title("what was found")
    _legend(figure, np.unique(found), classes)
    return figure


def seen(cloud: Float[np.ndarray, "p d"]) -> tuple[np.ndarray, np.ndarray]:
    """(right, up) of every point as it is seen, and how near it is; points of the plane as is."""
    if cloud.shape[1] == 2:
        return cloud, np.zeros(len(cloud))
    x, y, z = cloud.T
    right = np.cos(AZIMUTH) * x - np.sin(AZIMUTH) * y
    away = np.sin(AZIMUTH) * x + np.cos(AZIMUTH) * y
    up = np.cos(ELEVATION) * z + np.sin(ELEVATION) * away
    return np.stack([right, up], axis=1), np.sin(ELEVATION) * z - np.cos(ELEVATION) * away


def _depths(cloud: Float[np.ndarray, "p d"]) -> Float[np.ndarray, " p"]:
    """From 0 for the farthest point to 1 for the nearest."""
    near = seen(cloud)[1]
    span = np.ptp(near) if len(near) else 0.0
    return (near - near.min()) / span if span > 0 else np.ones(len(near))


def _shade(depth: float) -> tuple[float, float, float]:
    return tint(PALETTE[0], 0.25 + 0.75 * float(depth))


def _color(number: int) -> str:
    return COLORS[number % len(COLORS)]


def _window(cloud: Float[np.ndarray, "p d"]) -> Float[np.ndarray, "2 2"]:
    """The square about a cloud as it is seen: the least and the largest (right, up)."""
    flat = seen(cloud)[0]
    low, high = flat.min(0), flat.max(0)
    reach = 0.55 * max(float((high - low).max()), 1e-9)
    return np.stack([(low + high) / 2 - reach, (low + high) / 2 + reach])


def _scatter(
    axes: Axes,
    cloud: Float[np.ndarray, "p d"],
    colors: Sequence[object],
    window: Float[np.ndarray, "2 2"] | None = None,
) -> None:
    """The points in a thin frame, the nearest on top."""
    flat, near = seen(cloud)
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
    """Places of the points; what a point has beside its place is left out."""
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
    """The color of every part that occurs, beneath everything."""
    names = shortened(classes)
    dots = [
        Line2D([], [], marker="o", linestyle="", color=_color(int(k)), label=names[int(k)])
        for k in present
    ]
    columns = max(1, int(figure.get_figwidth() / 1.9))
    figure.legend(handles=dots, loc="outside lower center", ncols=min(columns, len(dots)))

"""A class for every pixel, laid over the picture it belongs to."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, labels
from chainrule.plots.style import FAINT, PALETTE, canvas, drawn, shortened

STRENGTH = 0.85  # of a class's color over the picture
MOST_SCENES = 8
COLORS = (*PALETTE, "#D65FA8", "#B8A300", "#7B4FB5", "#00B3A4")


@drawn
def segmented_scenes(
    images: ArrayLike, truth: ArrayLike, predicted: ArrayLike, classes: Sequence[str]
) -> Figure:
    """Three rows: gray images (N, H, W), their true classes, the predicted ones; the first eight.

    Class 0 is the ground and stays gray. Beneath each prediction stands its share of right pixels.
    """
    shown = array("images", images, "N", "H", "W")[:MOST_SCENES]
    maps = [
        _map(name, value, shown, classes)
        for name, value in (("truth", truth), ("predicted", predicted))
    ]
    figure = canvas(1.7 * len(shown) + 1.2, 6.3)
    grid = figure.subplots(3, len(shown), squeeze=False)
    for column, image in enumerate(shown):
        _show(grid[0, column], np.repeat(image[..., None], 3, axis=2))
        for row, found in enumerate(maps, 1):
            _show(grid[row, column], colored(image, found[column]))
        right = np.mean(maps[0][column] == maps[1][column])
        grid[2, column].set_xlabel(f"{100 * right:.1f} %", fontsize=12, labelpad=4)
    for axes, name in zip(grid[:, 0], ("image", "truth", "predicted"), strict=True):
        axes.set_ylabel(name, fontsize=14, rotation=0, ha="right", va="center", labelpad=8)
    _legend(figure, np.union1d(*maps), classes)
    figure.suptitle("a class for every pixel; beneath, the share of right ones", fontsize=15)
    return figure


@drawn
def overlay(image: ArrayLike, predicted: ArrayLike, classes: Sequence[str]) -> Figure:
    """One gray image (H, W) as it was read, and with the class of every pixel (H, W)."""
    read = array("image", image, "H", "W")
    found = _map("predicted", np.asarray(predicted)[None], read[None], classes)[0]
    figure = canvas(9.0, 5.6)
    left, right = figure.subplots(1, 2)
    _show(left, np.repeat(read[..., None], 3, axis=2))
    _show(right, colored(read, found))
    left.set_title("as it was read")
    right.set_title("what was found")
    _legend(figure, np.unique(found), classes)
    return figure


def colored(
    image: Float[np.ndarray, "h w"], found: Int[np.ndarray, "h w"]
) -> Float[np.ndarray, "h w 3"]:
    """The image with every pixel that is not ground in the color of its class."""
    gray = np.repeat(image[..., None], 3, axis=2)
    colors = np.array([_color(k) for k in range(int(found.max()) + 1)])
    painted = (1 - STRENGTH) * gray + STRENGTH * colors[found]
    return np.where(found[..., None] > 0, painted, gray)


def _color(number: int) -> tuple[float, float, float]:
    return to_rgb(COLORS[(number - 1) % len(COLORS)])


def _map(
    name: str, value: ArrayLike, images: np.ndarray, classes: Sequence[str]
) -> Int[np.ndarray, "n h w"]:
    """Class numbers, one for each pixel of these images."""
    found = np.asarray(value)[: len(images)]
    if found.shape != images.shape:
        raise InputError(f"expected {name} of shape {images.shape}, got {found.shape}")
    return labels(name, found.ravel(), classes).reshape(found.shape)


def _show(axes: Axes, image: Float[np.ndarray, "h w 3"]) -> None:
    axes.imshow(image.clip(0, 1), interpolation="nearest")
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def _legend(figure: Figure, present: Int[np.ndarray, " k"], classes: Sequence[str]) -> None:
    """The color of every class that occurs, beneath everything."""
    names = shortened(classes)
    patches = [Patch(color=_color(int(k)), label=names[k]) for k in present if k > 0]
    if patches:
        figure.legend(handles=patches, loc="outside lower center", ncols=min(10, len(patches)))

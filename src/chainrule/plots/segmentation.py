"""Semantic segmentation: the class of every pixel as a colored overlay."""

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
from chainrule.plots.palette import EXTENDED_PALETTE, FAINT
from chainrule.plots.style import canvas, shortened, styled

STRENGTH = 0.85  # of a class color over the image
MAX_IMAGES = 8


@styled
def segmentation_maps(
    images: ArrayLike, truth: ArrayLike, predicted: ArrayLike, classes: Sequence[str]
) -> Figure:
    """Three rows: the first eight images, their true and their predicted classes.

    Class 0 is the background and stays gray. Below each prediction is its pixel accuracy.

    images: (N, H, W), gray, or (N, H, W, 3).
    truth, predicted: (N, H, W), the class of each pixel.
    classes: the class names.
    """
    shown = with_colors("images", images, "N", "H", "W")[:MAX_IMAGES]
    maps = [
        _map(name, value, shown, classes)
        for name, value in (("truth", truth), ("predicted", predicted))
    ]
    figure = canvas(1.7 * len(shown) + 1.2, 6.3)
    grid = figure.subplots(3, len(shown), squeeze=False)
    for column, image in enumerate(shown):
        _show(grid[0, column], image)
        for row, found in enumerate(maps, 1):
            _show(grid[row, column], colored(image, found[column]))
        right = np.mean(maps[0][column] == maps[1][column])
        grid[2, column].set_xlabel(f"{100 * right:.1f} %", fontsize=12, labelpad=4)
    for axes, name in zip(grid[:, 0], ("image", "truth", "predicted"), strict=True):
        axes.set_ylabel(name, fontsize=14, rotation=0, ha="right", va="center", labelpad=8)
    _legend(figure, np.union1d(*maps), classes)
    figure.suptitle("class of every pixel; below: pixel accuracy", fontsize=15)
    return figure


@styled
def segmentation_overlay(image: ArrayLike, predicted: ArrayLike, classes: Sequence[str]) -> Figure:
    """One image, plain and with the predicted class of every pixel.

    image: (H, W), gray, or (H, W, 3).
    predicted: (H, W), the class of each pixel.
    classes: the class names.
    """
    read = with_colors("image", image, "H", "W")
    found = _map("predicted", np.asarray(predicted)[None], read[None], classes)[0]
    figure = canvas(9.0, 5.6)
    left, right = figure.subplots(1, 2)
    _show(left, read)
    _show(right, colored(read, found))
    left.set_title("input")
    right.set_title("predicted classes")
    _legend(figure, np.unique(found), classes)
    return figure


def colored(
    image: Float[np.ndarray, "h w *colors"], found: Int[np.ndarray, "h w"]
) -> Float[np.ndarray, "h w 3"]:
    """The image in gray, with every pixel that is not background in the color of its class."""
    gray = with_colors("image", image, "H", "W").mean(2, keepdims=True).repeat(3, axis=2)
    colors = np.array([_color(k) for k in range(int(found.max()) + 1)])
    painted = (1 - STRENGTH) * gray + STRENGTH * colors[found]
    return np.where(found[..., None] > 0, painted, gray)


def with_colors(name: str, value: ArrayLike, *axes: str) -> np.ndarray:
    """Gray images of these axes, or colored ones with a further axis, as (…, 3)."""
    if np.ndim(value) == len(axes):
        return np.repeat(array(name, value, *axes)[..., None], 3, axis=-1)
    return array(name, value, *axes, 3)


def _color(number: int) -> tuple[float, float, float]:
    return to_rgb(EXTENDED_PALETTE[(number - 1) % len(EXTENDED_PALETTE)])


def _map(
    name: str, value: ArrayLike, images: np.ndarray, classes: Sequence[str]
) -> Int[np.ndarray, "n h w"]:
    """Class labels, one for each pixel of these images."""
    found = np.asarray(value)[: len(images)]
    if found.shape != images.shape[:3]:
        raise InputError(f"expected {name} of shape {images.shape[:3]}, got {found.shape}")
    return labels(name, found.ravel(), classes).reshape(found.shape)


def _show(axes: Axes, image: Float[np.ndarray, "h w 3"]) -> None:
    axes.imshow(image.clip(0, 1), interpolation="nearest")
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def _legend(figure: Figure, present: Int[np.ndarray, " k"], classes: Sequence[str]) -> None:
    """A legend of the classes that occur."""
    names = shortened(classes)
    patches = [Patch(color=_color(int(k)), label=names[k]) for k in present if k > 0]
    if patches:
        figure.legend(handles=patches, loc="outside lower center", ncols=min(10, len(patches)))

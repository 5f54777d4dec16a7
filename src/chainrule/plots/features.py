"""Inside a convolutional network: kernels, their responses, feature maps, saliency."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.images import image_grid
from chainrule.plots.palette import FAINT
from chainrule.plots.style import DIVERGING_MAP, canvas, styled

MAX_FILTERS = 64
MAX_MAPS = 8


@styled
def filters(kernels: ArrayLike, title: str = "") -> Figure:
    """The first 64 kernels of a first layer, each on its own scale.

    Kernels of one channel are blue below zero, white at zero, orange above; kernels of three
    channels are RGB colors, gray at zero.

    kernels: (N, C, H, W) with C = 1 or 3.
    """
    weights = array("kernels", kernels, "N", "C", "H", "W")[:MAX_FILTERS]
    if not len(weights) or weights.shape[1] not in (1, 3):
        raise InputError(f"expected kernels of one or three channels, got {weights.shape}")
    largest = np.abs(weights).max((1, 2, 3), keepdims=True)
    scaled = weights / np.where(largest == 0, 1, largest)
    if weights.shape[1] == 1:
        tiles = _bytes(DIVERGING_MAP((scaled[:, 0] + 1) / 2)[..., :3])
    else:
        tiles = _bytes((scaled.transpose(0, 2, 3, 1) + 1) / 2)
    figure = image_grid(tiles, [""] * len(tiles), columns=8)
    figure.set_figheight(0.6 + 1.45 * -(-len(tiles) // 8))
    figure.suptitle(title or f"{len(tiles)} kernels of the first layer", fontsize=15)
    return figure


@styled
def filter_responses(
    images: ArrayLike, kernels: Mapping[str, ArrayLike], responses: ArrayLike, title: str = ""
) -> Figure:
    """Kernels in the first row; below, images on the left and every kernel's response to them.

    Blue is below zero, white zero, orange above. Every kernel has its own scale, and so have its
    responses, the same for all images.

    images: (N, H, W).
    kernels: (h, w) of each filter by name.
    responses: (N, filters, height, width).
    """
    shown = array("images", images, "N", "H", "W")
    found = array("responses", responses, len(shown), len(kernels), "H", "W")
    if not found.size:
        raise InputError("expected at least one image and one kernel")
    figure = canvas(1.3 * len(kernels) + 2.0, 1.3 * (len(shown) + 1) + 0.9)
    grid = figure.subplots(len(shown) + 1, len(kernels) + 1, squeeze=False)
    grid[0, 0].set_axis_off()
    for axes, image in zip(grid[1:, 0], shown, strict=True):
        _frame(axes)
        axes.imshow(image, cmap="gray", interpolation="nearest")
    for column, (name, kernel), maps in zip(
        grid.T[1:], kernels.items(), found.swapaxes(0, 1), strict=True
    ):
        weights = array(name, kernel, "h", "w")
        _signed(column[0], weights, float(np.abs(weights).max()))
        column[0].set_title(name, fontsize=12, loc="center", pad=4)
        for axes, values in zip(column[1:], maps, strict=True):
            _signed(axes, values, float(np.abs(maps).max()))
    figure.suptitle(title or "filters and their responses", fontsize=15)
    return figure


@styled
def feature_maps(image: ArrayLike, maps: Mapping[str, ArrayLike], title: str = "") -> Figure:
    """An image, and below it the first eight feature maps of some layers.

    image: (H, W) or (H, W, 3).
    maps: (C, H, W) of each layer by name.
    """
    layers = {name: array(name, value, "C", "H", "W")[:MAX_MAPS] for name, value in maps.items()}
    if not layers:
        raise InputError("expected the feature maps of at least one layer")
    figure = canvas(1.3 * MAX_MAPS + 1.2, 1.45 * (len(layers) + 1) + 0.5)
    grid = figure.subplots(len(layers) + 1, MAX_MAPS, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    _frame(grid[0, 0], "image")
    grid[0, 0].imshow(image, cmap="gray", interpolation="nearest")
    for row, (name, values) in zip(grid[1:], layers.items(), strict=True):
        for axes, values_of_one in zip(row, values, strict=False):
            _frame(axes)
            axes.imshow(values_of_one, cmap="gray", interpolation="nearest")
        _frame(row[0], f"{name}\n{' × '.join(map(str, values.shape[1:]))}")
    figure.suptitle(title or "feature maps, layer by layer", fontsize=15)
    return figure


@styled
def saliency(
    images: ArrayLike, gradients: ArrayLike, captions: Sequence[str], title: str = ""
) -> Figure:
    """Images above their saliency maps, the absolute gradient of the predicted class score.

    images: (N, H, W) or (N, H, W, 3).
    gradients: ∂(score of the predicted class) / ∂(pixel), shaped as the images; of three colors
        the largest is shown.
    captions: one per image.
    """
    above, steep = np.asarray(images), np.abs(np.asarray(gradients))
    same_lengths(images=above, captions=captions)
    if above.shape != steep.shape or above.ndim not in (3, 4):
        raise InputError(
            f"expected gradients of the shape of the images, got {steep.shape} and {above.shape}"
        )
    steep = steep if steep.ndim == 3 else steep.max(3)
    figure = canvas(max(4.0, 1.6 * len(above) + 1.2), 4.3)
    grid = figure.subplots(2, len(above), squeeze=False)
    for axes, image, caption in zip(grid[0], above, captions, strict=True):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        axes.set_title(caption, fontsize=12, loc="center", pad=4)
    for axes, slope in zip(grid[1], steep, strict=True):
        axes.imshow(slope, cmap="inferno", interpolation="nearest")
    for axes in grid.flat:
        _frame(axes)
    _frame(grid[0, 0], "image")
    _frame(grid[1, 0], "|gradient|")
    figure.suptitle(title or "saliency: gradient of the predicted class score", fontsize=15)
    return figure


def _signed(axes: Axes, values: Float[np.ndarray, "h w"], largest: float) -> None:
    """Blue below zero, white at zero, orange above."""
    _frame(axes)
    limit = largest or 1.0
    axes.imshow(values, DIVERGING_MAP, vmin=-limit, vmax=limit, interpolation="nearest")


def _frame(axes: Axes, name: str = "") -> None:
    """No ticks, a thin frame, and a name on the left."""
    axes.set_axis_on()
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)
    if name:
        axes.set_ylabel(name, fontsize=12, rotation=0, ha="right", va="center", labelpad=6)


def _bytes(colors: Float[np.ndarray, "n h w 3"]) -> UInt8[np.ndarray, "n h w 3"]:
    return (255 * colors).round().astype(np.uint8)

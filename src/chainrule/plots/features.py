"""What a convolutional network looks at: its kernels, its feature maps, the pixels that matter."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.images import image_grid
from chainrule.plots.style import FAINT, PALETTE, canvas, drawn

MOST_FILTERS = 64
MOST_MAPS = 8
SIGNED = LinearSegmentedColormap.from_list("signed", [PALETTE[0], "white", PALETTE[1]])


@drawn
def filters(kernels: ArrayLike, title: str = "") -> Figure:
    """Kernels (N, C, H, W) of a first layer, the first 64 of them.

    Of one channel: blue below zero, white at it, orange above, each kernel on its own scale. Of
    three: as colors, gray where the weight is zero.
    """
    weights = array("kernels", kernels, "N", "C", "H", "W")[:MOST_FILTERS]
    if not len(weights) or weights.shape[1] not in (1, 3):
        raise InputError(f"expected kernels of one or three channels, got {weights.shape}")
    largest = np.abs(weights).max((1, 2, 3), keepdims=True)
    shares = weights / np.where(largest == 0, 1, largest)
    if weights.shape[1] == 1:
        tiles = _bytes(SIGNED((shares[:, 0] + 1) / 2)[..., :3])
    else:
        tiles = _bytes((shares.transpose(0, 2, 3, 1) + 1) / 2)
    figure = image_grid(tiles, [""] * len(tiles), columns=8)
    figure.set_figheight(0.6 + 1.45 * -(-len(tiles) // 8))
    figure.suptitle(title or f"{len(tiles)} kernels of the first layer", fontsize=15)
    return figure


@drawn
def feature_maps(image: ArrayLike, maps: Mapping[str, ArrayLike], title: str = "") -> Figure:
    """An image (H, W) or (H, W, 3), and under it, layer by layer, its first eight feature maps."""
    layers = {name: array(name, value, "C", "H", "W")[:MOST_MAPS] for name, value in maps.items()}
    if not layers:
        raise InputError("expected the feature maps of at least one layer")
    figure = canvas(1.3 * MOST_MAPS + 1.2, 1.45 * (len(layers) + 1) + 0.5)
    grid = figure.subplots(len(layers) + 1, MOST_MAPS, squeeze=False)
    for axes in grid.flat:
        axes.set_axis_off()
    _frame(grid[0, 0], "the image")
    grid[0, 0].imshow(image, cmap="gray", interpolation="nearest")
    for row, (name, values) in zip(grid[1:], layers.items(), strict=True):
        for axes, values_of_one in zip(row, values, strict=False):
            _frame(axes)
            axes.imshow(values_of_one, cmap="gray", interpolation="nearest")
        _frame(row[0], f"{name}\n{' × '.join(map(str, values.shape[1:]))}")
    figure.suptitle(title or "what the first kernels of some layers find in it", fontsize=15)
    return figure


@drawn
def saliency(
    images: ArrayLike, gradients: ArrayLike, captions: Sequence[str], title: str = ""
) -> Figure:
    """Images (N, H, W) or (N, H, W, 3) above the pixels on which their answers depend most.

    gradients: ∂(score of the answer) / ∂(pixel), shaped as the images; what is shown is its size,
    the largest of the three colors.
    """
    above, steep = np.asarray(images), np.abs(np.asarray(gradients))
    same_lengths(images=above, captions=captions)
    if above.shape != steep.shape or above.ndim not in (3, 4):
        raise InputError(
            f"expected gradients shaped as the images, got {steep.shape} and {above.shape}"
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
    figure.suptitle(title or "the pixels on which each answer depends most", fontsize=15)
    return figure


def _frame(axes: Axes, name: str = "") -> None:
    """No ticks, a thin frame, and a name at the left."""
    axes.set_axis_on()
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)
    if name:
        axes.set_ylabel(name, fontsize=12, rotation=0, ha="right", va="center", labelpad=6)


def _bytes(shares: Float[np.ndarray, "n h w 3"]) -> UInt8[np.ndarray, "n h w 3"]:
    return (255 * shares).round().astype(np.uint8)

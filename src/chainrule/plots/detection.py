"""Object detection: predicted boxes over the images, with the true ones dashed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array
from chainrule.plots.palette import EXTENDED_PALETTE
from chainrule.plots.style import canvas, styled

COLUMNS, MOST = 4, 12
TRUE = "gray"


class Box(NamedTuple):
    """A class and a box: its center and size, in units of the image."""

    label: int
    center_x: float
    center_y: float
    width: float
    height: float


@styled
def detected_boxes(
    images: ArrayLike,
    truth: Sequence[Sequence[Box]],
    found: Sequence[Sequence[Box]],
    classes: Sequence[str],
) -> Figure:
    """The first twelve images in negative, with predicted boxes in the color of their class.

    images: (N, H, W), gray.
    truth, found: the boxes of each image.
    classes: the class names.
    """
    shown = array("images", images, "N", "H", "W")[:MOST]
    if not len(shown) or min(len(truth), len(found)) < len(shown):
        raise InputError(
            f"expected images and the boxes of each, got {len(shown)} images, true boxes of "
            f"{len(truth)} and predicted boxes of {len(found)}"
        )
    rows = -(-len(shown) // COLUMNS)
    figure = canvas(2.3 * COLUMNS, 2.35 * rows + 1.0)
    grid = figure.subplots(rows, COLUMNS, squeeze=False)
    for axes in grid.flat[len(shown) :]:
        axes.axis("off")
    for axes, image, true, predicted in zip(grid.flat, shown, truth, found, strict=False):
        _scene(axes, image, true, predicted, classes)
    handles = [
        Line2D([], [], color=EXTENDED_PALETTE[0], label="predicted"),
        Line2D([], [], color=TRUE, ls=":", label="true"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    figure.suptitle("predicted boxes and classes", fontsize=15)
    return figure


def _scene(
    axes: Axes, image: np.ndarray, true: Sequence[Box], found: Sequence[Box], classes: Sequence[str]
) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    axes.imshow(image, cmap="gray_r", extent=(0, 1, 1, 0))
    for box in true:
        axes.add_patch(_outline(box, color=TRUE, ls=":", lw=1.6))
    for box in found:
        color = EXTENDED_PALETTE[box.label % len(EXTENDED_PALETTE)]
        patch = _outline(box, color=color, lw=1.8)
        axes.add_patch(patch)
        axes.annotate(
            classes[box.label], patch.get_xy(), (1, 2), textcoords="offset points", color=color
        )


def _outline(box: Box, **look: object) -> Rectangle:
    corner = box.center_x - box.width / 2, box.center_y - box.height / 2
    return Rectangle(corner, box.width, box.height, fill=False, **look)  # type: ignore[arg-type]

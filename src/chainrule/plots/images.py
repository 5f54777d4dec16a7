"""Images: grids, the worst mistakes, recalled patterns."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from jaxtyping import Float, Shaped
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, labels, same_lengths
from chainrule.plots.palette import FAINT, QUIET
from chainrule.plots.style import canvas, shortened, styled

MAX_MISTAKES = 24
MAX_PATTERNS = 10


@styled
def image_grid(
    images: ArrayLike, captions: Sequence[str], columns: int = 8, colors: str = "gray"
) -> Figure:
    """Images side by side, each with a caption below.

    images: (N, H, W) or (N, H, W, 3).
    captions: one per image.
    columns: images per row.
    colors: the color map of gray images.
    """
    images = _images(images)
    same_lengths(images=images, captions=captions)
    columns = max(1, min(columns, len(images)))
    rows = max(1, ceil(len(images) / columns))
    figure = canvas(max(4.0, 1.45 * columns), 1.75 * rows)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(images) :]:
        axes.remove()
    for axes, image, caption in zip(grid, images, captions, strict=False):
        _tile(axes, image, colors)
        axes.set_xlabel(caption, fontsize=12, labelpad=4)
    return figure


@styled
def worst_mistakes(
    images: ArrayLike,
    truth: ArrayLike,
    predicted: ArrayLike,
    confidence: ArrayLike,
    classes: Sequence[str],
) -> Figure:
    """The 24 most confident mistakes, captioned "truth → prediction, confidence".

    images: (N, H, W) or (N, H, W, 3), correct ones included.
    truth, predicted: the classes of each image.
    confidence: the probability of the predicted class.
    classes: the class names.
    """
    images = _images(images)
    truth, predicted = labels("truth", truth, classes), labels("predicted", predicted, classes)
    confidence = array("confidence", confidence, "N")
    same_lengths(images=images, truth=truth, predicted=predicted, confidence=confidence)
    wrong = np.flatnonzero(truth != predicted)
    worst = wrong[np.argsort(-confidence[wrong], kind="stable")][:MAX_MISTAKES]
    if not len(worst):
        return _note(f"no mistakes among {len(truth)} examples")
    names = shortened(classes, longest=14)
    captions = [
        f"{names[truth[i]]} → {names[predicted[i]]}, {100 * confidence[i]:.0f} %" for i in worst
    ]
    narrow = max(map(len, captions)) <= 12
    if not narrow:
        captions = [caption.replace(" → ", " →\n") for caption in captions]
    figure = image_grid(images[worst], captions, columns=8 if narrow else 6)
    if not narrow:
        figure.set_size_inches(max(5.0, 2.1 * min(6, len(worst))), figure.get_figheight() * 1.4)
    figure.suptitle(
        f"{len(wrong)} of {len(truth)} wrong, the most confident mistakes first", fontsize=15
    )
    return figure


@styled
def recalled_patterns(
    stored: ArrayLike, probes: ArrayLike, recalled: ArrayLike, shape: tuple[int, int]
) -> Figure:
    """Three rows: the stored patterns, the noisy cues, the recalled patterns; the first ten.

    Below cue and recall is the overlap with the stored pattern, x·y / (|x| |y|), which for states
    of ±1 is 1/n Σ x_i y_i.

    stored, probes, recalled: (patterns, units).
    shape: height and width of a pattern as an image.
    """
    units = shape[0] * shape[1]
    rows = [
        array(name, value, "P", units).astype(float)
        for name, value in (("stored", stored), ("probes", probes), ("recalled", recalled))
    ]
    same_lengths(stored=rows[0], probes=rows[1], recalled=rows[2])
    rows = [row[:MAX_PATTERNS] for row in rows]
    patterns = len(rows[0])
    overlaps = [f"{value:.2f}" for row in rows[1:] for value in overlap(rows[0], row)]
    images = np.concatenate(rows).reshape(-1, *shape)
    figure = image_grid(images, [""] * patterns + overlaps, patterns, "gray_r")
    figure.set_figwidth(1.0 + figure.get_figwidth())
    for axes, name in zip(figure.axes[::patterns], ("stored", "cue", "recalled"), strict=True):
        axes.set_ylabel(name, fontsize=14, rotation=0, ha="right", va="center", labelpad=8)
    figure.suptitle("overlap with the stored pattern,\nbefore and after recall", fontsize=15)
    return figure


def overlap(
    x: Float[np.ndarray, "patterns n"], y: Float[np.ndarray, "patterns n"]
) -> Float[np.ndarray, " patterns"]:
    """x·y / (|x| |y|) pattern by pattern; 0 for a state of zeros."""
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return (x * y).sum(1) / np.where(lengths == 0, 1, lengths)


def _images(images: ArrayLike) -> Shaped[np.ndarray, "n h w *color"]:
    found = np.asarray(images)
    if not (found.ndim == 3 or (found.ndim == 4 and found.shape[3] == 3)):
        raise InputError(
            f"expected images of shape (N, H, W) or (N, H, W, 3), got {tuple(found.shape)}"
        )
    return found


def _tile(axes: Axes, image: Shaped[np.ndarray, "h w *color"], colors: str) -> None:
    """One image in a thin frame; colors outside [0, 1] are rescaled."""
    if image.ndim == 3 and image.dtype != np.uint8:
        low, high = min(0.0, float(image.min())), max(1.0, float(image.max()))
        image = (image - low) / (high - low)
    axes.imshow(image, cmap=colors, interpolation="nearest")
    axes.grid(False)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)


def _note(text: str) -> Figure:
    """A figure with nothing but a text."""
    figure = canvas(6.0, 2.0)
    figure.text(0.5, 0.5, text, ha="center", va="center", fontsize=16, color=QUIET)
    return figure

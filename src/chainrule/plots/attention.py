"""Attention weights in text and in images, and positional encodings."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.palette import FAINT, INK
from chainrule.plots.style import (
    DIVERGING_MAP,
    SEQUENTIAL_MAP,
    canvas,
    color,
    legend_below,
    shortened,
    styled,
)

MAX_HEADS = 8
MAX_LAYERS = 6
MAX_TOKENS = 30  # that are written beside a map


@styled
def text_attention(
    weights: ArrayLike, queries: Sequence[str], keys: Sequence[str] = (), title: str = ""
) -> Figure:
    """An attention map for each layer and head; dark is a large weight.

    Every map has its own scale, from zero to its largest weight, but at least to twice the mean, so
    that uniform weights are pale. At most the last six layers and first eight heads are shown.

    weights: (layers, heads, queries, keys).
    queries: the tokens that attend, one per row.
    keys: the tokens they attend to, one per column; the queries if empty.
    """
    rows, columns = list(queries), list(keys or queries)
    A = array("weights", weights, "L", "H", len(rows), len(columns))
    A, below = _shown(A)
    layers, heads = A.shape[:2]
    one = layers * heads == 1
    side = 0.28 * max(len(rows), len(columns)) + 1.5 if one else 2.5
    figure = canvas(max(4.0, side * heads + 1.6), max(3.0, side * layers + 1.5))
    grid = figure.subplots(layers, heads, squeeze=False)
    for (layer, head), axes in np.ndenumerate(grid):
        scale = Normalize(0, max(A[layer, head].max(), 2 / len(columns)))
        axes.imshow(
            A[layer, head], cmap=SEQUENTIAL_MAP, norm=scale, interpolation="nearest", aspect="auto"
        )
        _frame(axes)
        if layer == 0 and not one:
            axes.set_title(f"head {head + 1}", fontsize=12, loc="center", pad=4)
        if head == 0:
            _name_tokens(axes, rows, "y", 10 if one else 8)
        if layer == layers - 1:
            _name_tokens(axes, columns, "x", 10 if one else 8)
    if not one:
        for layer, axes in enumerate(grid[:, -1]):
            axes.yaxis.set_label_position("right")
            number = f"layer {below + layer + 1}"
            axes.set_ylabel(number, fontsize=12, rotation=270, labelpad=14)
    figure.suptitle(title or "attention weights (row: query, column: key)", fontsize=15)
    return figure


@styled
def attention_rollout(
    images: ArrayLike, weights: ArrayLike, captions: Sequence[str], title: str = ""
) -> Figure:
    """Images above their attention rollout, each on its own scale from dark to bright.

    images: (N, H, W) or (N, H, W, 3).
    weights: (N, rows, columns), the rollout of each patch.
    captions: one per image.
    """
    above = np.asarray(images)
    rollout = array("weights", weights, "N", "r", "c").astype(float)
    same_lengths(images=above, weights=rollout, captions=captions)
    if above.ndim not in (3, 4) or not len(above):
        raise InputError(f"expected images (N, H, W) or (N, H, W, 3), got {above.shape}")
    figure = canvas(max(4.0, 1.6 * len(above) + 1.2), 4.4)
    grid = figure.subplots(2, len(above), squeeze=False)
    for axes, image, caption in zip(grid[0], above, captions, strict=True):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        axes.set_title(caption, fontsize=12, loc="center", pad=4)
    for axes, image, weight in zip(grid[1], above, rollout, strict=True):
        _overlay(axes, image, weight - weight.min())
    for axes in grid.flat:
        _frame(axes)
    for axes, name in zip(grid[:, 0], ("image", "rollout"), strict=True):
        axes.set_ylabel(name, fontsize=12, rotation=0, ha="right", va="center", labelpad=6)
    figure.suptitle(title or "attention rollout from [CLS] to the patches", fontsize=15)
    return figure


@styled
def attention_heads(image: ArrayLike, weights: ArrayLike, title: str = "") -> Figure:
    """One image under the attention weights of each head of each layer.

    At most the last six layers and first eight heads are shown.

    image: (H, W) or (H, W, 3).
    weights: (layers, heads, rows, columns), the attention to each patch.
    """
    A, below = _shown(array("weights", weights, "L", "H", "r", "c").astype(float))
    layers, heads = A.shape[:2]
    figure = canvas(max(4.0, 1.5 * heads + 1.4), 1.6 * layers + 1.0)
    grid = figure.subplots(layers, heads, squeeze=False)
    for (layer, head), axes in np.ndenumerate(grid):
        _overlay(axes, np.asarray(image), A[layer, head])
        _frame(axes)
        if layer == 0:
            axes.set_title(f"head {head + 1}", fontsize=12, loc="center", pad=4)
    for layer, axes in enumerate(grid[:, 0]):
        number = f"layer {below + layer + 1}"
        axes.set_ylabel(number, fontsize=12, rotation=0, ha="right", va="center")
    figure.suptitle(title or "attention from [CLS] to the patches", fontsize=15)
    return figure


@styled
def positional_encoding(p: ArrayLike, title: str = "") -> Figure:
    """Positional encodings as a heat map, and their cosine similarity p_t · p_s / (|p_t| |p_s|).

    p: (positions, components).
    """
    P = array("p", p, "T", "d").astype(float)
    if min(P.shape) < 2:
        raise InputError(f"expected two positions and two components or more, got {P.shape}")
    figure = canvas(13.0, 5.4)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    largest = float(np.abs(P).max()) or 1.0
    heat_map = left.imshow(
        P,
        cmap=DIVERGING_MAP,
        norm=Normalize(-largest, largest),
        aspect="auto",
        interpolation="nearest",
    )
    left.set(xlabel="component", ylabel="position", title=title or "positional encoding")
    length = np.linalg.norm(P, axis=1, keepdims=True)
    unit = P / np.where(length == 0, 1, length)
    similarity = right.imshow(
        unit @ unit.T,
        cmap=DIVERGING_MAP,
        norm=Normalize(-1, 1),
        aspect="equal",
        interpolation="nearest",
    )
    right.set(xlabel="position", ylabel="position", title="cosine similarity")
    for axes, image, name in ((left, heat_map, "value"), (right, similarity, "cosine")):
        axes.grid(False)
        bar = figure.colorbar(image, ax=axes, label=name, shrink=0.85)
        bar.outline.set_visible(False)
    return figure


@styled
def relative_positions(offsets: Sequence[int], bias: ArrayLike, title: str = "") -> Figure:
    """The bias of each head's scores by the position of the key relative to the query.

    offsets: s - t, key minus query.
    bias: (heads, offsets).
    """
    b = array("bias", bias, "H", len(offsets))
    figure = canvas(9.0, 4.8)
    axes = figure.add_subplot()
    axes.axvline(0, color=FAINT, lw=1)
    for head, row in enumerate(b[:MAX_HEADS]):
        axes.plot(offsets, row, color=color(head), lw=1.6, label=f"head {head + 1}")
    axes.set(
        xlabel="position of the key relative to the query",
        ylabel="bias of the score",
        title=title or "learned relative positions of the encoder",
    )
    axes.margins(x=0.01)
    legend_below(figure)
    return figure


def _overlay(axes: Axes, image: np.ndarray, weight: Float[np.ndarray, "rows columns"]) -> None:
    """The image in dark gray under the weights of its patches, the largest one bright."""
    height, width = image.shape[:2]
    rows, columns = weight.shape
    if height % rows or width % columns:
        raise InputError(
            f"expected weights of patches that divide the image of {height}×{width} evenly, got "
            f"{rows}×{columns}"
        )
    light = np.kron(weight / (weight.max() or 1.0), np.ones((height // rows, width // columns)))
    gray = image.astype(float) if image.ndim == 2 else image.astype(float).mean(2)
    scale = Normalize(gray.min(), gray.min() + 2 * np.ptp(gray))
    axes.imshow(gray, cmap="gray", norm=scale, interpolation="nearest")
    axes.imshow(light, cmap="inferno", vmin=0, vmax=1, alpha=0.65, interpolation="nearest")


def _shown(A: np.ndarray) -> tuple[np.ndarray, int]:
    """The layers and heads that fit, and the number of layers below them."""
    if not A.size or A.min() < 0:
        raise InputError("expected non-negative weights of at least one layer and head")
    return A[-MAX_LAYERS:, :MAX_HEADS], max(0, len(A) - MAX_LAYERS)


def _name_tokens(axes: Axes, tokens: Sequence[str], axis: str, size: int) -> None:
    """Write the tokens along an axis, if they fit."""
    if len(tokens) > MAX_TOKENS:
        return
    names, places = shortened(tokens, 12), range(len(tokens))
    if axis == "x":
        turn = 90 if any(len(name) > 1 for name in names) else 0
        axes.set_xticks(places, names, rotation=turn, fontsize=size, color=INK)
    else:
        axes.set_yticks(places, names, fontsize=size, color=INK)
    axes.tick_params(length=0, pad=2)


def _frame(axes: Axes) -> None:
    """No ticks, a thin frame."""
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)

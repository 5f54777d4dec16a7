"""Pictures of attention: who listens to whom, in text and in images, and how places are told."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.style import FAINT, INK, PALETTE, canvas, drawn, shortened

HEAT = LinearSegmentedColormap.from_list("heat", ["white", PALETTE[3], PALETTE[0]])
SIGNED = LinearSegmentedColormap.from_list("signed", [PALETTE[0], "white", PALETTE[1]])
MOST_HEADS = 8
MOST_LAYERS = 6
MOST_NAMED = 30  # tokens whose names fit beside a map


@drawn
def text_attention(
    weights: ArrayLike, queries: Sequence[str], keys: Sequence[str] = (), title: str = ""
) -> Figure:
    """A map for each layer and head, of weights (layers, heads, queries, keys); dark is much.

    Every map has its own scale, from zero to its largest weight, but to twice the mean at least:
    even weights are pale. Without keys, the queries are the keys. At most the last six layers and
    eight heads are shown.
    """
    asked, answered = list(queries), list(keys or queries)
    A = array("weights", weights, "L", "H", len(asked), len(answered))
    A, below = most(A)
    layers, heads = A.shape[:2]
    one = layers * heads == 1
    side = 0.28 * max(len(asked), len(answered)) + 1.5 if one else 2.5
    figure = canvas(max(4.0, side * heads + 1.6), max(3.0, side * layers + 1.5))
    grid = figure.subplots(layers, heads, squeeze=False)
    for (layer, head), axes in np.ndenumerate(grid):
        scale = Normalize(0, max(A[layer, head].max(), 2 / len(answered)))
        axes.imshow(A[layer, head], cmap=HEAT, norm=scale, interpolation="nearest", aspect="auto")
        bare(axes)
        if layer == 0 and not one:
            axes.set_title(f"head {head + 1}", fontsize=12, loc="center", pad=4)
        if head == 0:
            named(axes, asked, "y", 10 if one else 8)
        if layer == layers - 1:
            named(axes, answered, "x", 10 if one else 8)
    if not one:
        for layer, axes in enumerate(grid[:, -1]):
            axes.yaxis.set_label_position("right")
            number = f"layer {below + layer + 1}"
            axes.set_ylabel(number, fontsize=12, rotation=270, labelpad=14)
    figure.suptitle(title or "each row shows to whom a token listens", fontsize=15)
    return figure


@drawn
def image_attention(
    images: ArrayLike, shares: ArrayLike, captions: Sequence[str], title: str = ""
) -> Figure:
    """Images (N, H, W) or (N, H, W, 3) above where the answer looks: shares (N, rows, columns).

    A rollout is nearly even, so each is shown from its least share, dark, to its largest, bright.
    """
    above = np.asarray(images)
    looked = array("shares", shares, "N", "r", "c").astype(float)
    same_lengths(images=above, shares=looked, captions=captions)
    if above.ndim not in (3, 4) or not len(above):
        raise InputError(f"expected images (N, H, W) or (N, H, W, 3), got {above.shape}")
    figure = canvas(max(4.0, 1.6 * len(above) + 1.2), 4.4)
    grid = figure.subplots(2, len(above), squeeze=False)
    for axes, image, caption in zip(grid[0], above, captions, strict=True):
        axes.imshow(image, cmap="gray", interpolation="nearest")
        axes.set_title(caption, fontsize=12, loc="center", pad=4)
    for axes, image, share in zip(grid[1], above, looked, strict=True):
        over(axes, image, share - share.min())
    for axes in grid.flat:
        bare(axes)
    for axes, name in zip(grid[:, 0], ("image", "looked at"), strict=True):
        axes.set_ylabel(name, fontsize=12, rotation=0, ha="right", va="center", labelpad=6)
    figure.suptitle(title or "what reaches the answer, by attention rollout", fontsize=15)
    return figure


@drawn
def image_heads(image: ArrayLike, shares: ArrayLike, title: str = "") -> Figure:
    """One image, and where each head of each layer looks: shares (layers, heads, rows, columns).

    At most the last six layers and eight heads are shown.
    """
    looked, below = most(array("shares", shares, "L", "H", "r", "c").astype(float))
    layers, heads = looked.shape[:2]
    figure = canvas(max(4.0, 1.5 * heads + 1.4), 1.6 * layers + 1.0)
    grid = figure.subplots(layers, heads, squeeze=False)
    for (layer, head), axes in np.ndenumerate(grid):
        over(axes, np.asarray(image), looked[layer, head])
        bare(axes)
        if layer == 0:
            axes.set_title(f"head {head + 1}", fontsize=12, loc="center", pad=4)
    for layer, axes in enumerate(grid[:, 0]):
        number = f"layer {below + layer + 1}"
        axes.set_ylabel(number, fontsize=12, rotation=0, ha="right", va="center")
    figure.suptitle(title or "where [CLS] looks", fontsize=15)
    return figure


@drawn
def positional(p: ArrayLike, title: str = "") -> Figure:
    """Positions (T, d) as a heat map, and how alike two of them are: p_t · p_s / (|p_t| |p_s|)."""
    P = array("positions", p, "T", "d").astype(float)
    if min(P.shape) < 2:
        raise InputError(f"expected two positions and two components or more, got {P.shape}")
    figure = canvas(13.0, 5.4)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    largest = float(np.abs(P).max()) or 1.0
    shown = left.imshow(
        P, cmap=SIGNED, norm=Normalize(-largest, largest), aspect="auto", interpolation="nearest"
    )
    left.set(xlabel="component", ylabel="position", title=title or "positions")
    length = np.linalg.norm(P, axis=1, keepdims=True)
    unit = P / np.where(length == 0, 1, length)
    alike = right.imshow(
        unit @ unit.T, cmap=SIGNED, norm=Normalize(-1, 1), aspect="equal", interpolation="nearest"
    )
    right.set(xlabel="position", ylabel="position", title="how alike two of them are")
    for axes, image, name in ((left, shown, "value"), (right, alike, "cosine")):
        axes.grid(False)
        bar = figure.colorbar(image, ax=axes, label=name, shrink=0.85)
        bar.outline.set_visible(False)
    return figure


def over(axes: Axes, image: np.ndarray, share: Float[np.ndarray, "rows columns"]) -> None:
    """The image in dark gray under its shares: the largest one bright, none at all dark."""
    height, width = image.shape[:2]
    rows, columns = share.shape
    if height % rows or width % columns:
        raise InputError(
            f"expected shares of patches that cover the image of {height}×{width} exactly, got "
            f"{rows}×{columns}"
        )
    light = np.kron(share / (share.max() or 1.0), np.ones((height // rows, width // columns)))
    gray = image.astype(float) if image.ndim == 2 else image.astype(float).mean(2)
    scale = Normalize(gray.min(), gray.min() + 2 * np.ptp(gray))
    axes.imshow(gray, cmap="gray", norm=scale, interpolation="nearest")
    axes.imshow(light, cmap="inferno", vmin=0, vmax=1, alpha=0.65, interpolation="nearest")


def most(A: np.ndarray) -> tuple[np.ndarray, int]:
    """The layers and heads that fit, and how many layers are left out below them."""
    if not A.size or A.min() < 0:
        raise InputError("expected weights of 0 or more, of at least one layer and head")
    return A[-MOST_LAYERS:, :MOST_HEADS], max(0, len(A) - MOST_LAYERS)


def named(axes: Axes, tokens: Sequence[str], axis: str, size: int) -> None:
    """The tokens along an axis, if they fit."""
    if len(tokens) > MOST_NAMED:
        return
    names, places = shortened(tokens, 12), range(len(tokens))
    if axis == "x":
        turn = 90 if any(len(name) > 1 for name in names) else 0
        axes.set_xticks(places, names, rotation=turn, fontsize=size, color=INK)
    else:
        axes.set_yticks(places, names, fontsize=size, color=INK)
    axes.tick_params(length=0, pad=2)


def bare(axes: Axes) -> None:
    """No ticks, a thin frame."""
    axes.grid(False)
    axes.set(xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=FAINT)

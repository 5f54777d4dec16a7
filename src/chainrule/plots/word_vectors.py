"""Word vectors in the plane: pairs of words of the same relation, joined by lines."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array
from chainrule.plots.style import canvas, color, styled

PANEL = 4.6


@styled
def word_pairs(kinds: Mapping[str, tuple[Sequence[tuple[str, str]], ArrayLike]]) -> Figure:
    """A panel for each relation, in the plane of its first two principal components.

    kinds: relation → its pairs of words, and their vectors of shape (pairs, 2, d).
    """
    if not kinds:
        raise InputError("expected at least one relation with its pairs of words, got none")
    figure = canvas(PANEL * len(kinds), PANEL + 0.6)
    panels = figure.subplots(1, len(kinds), squeeze=False)[0]
    for place, (axes, (name, (pairs, vectors))) in enumerate(
        zip(panels, kinds.items(), strict=True)
    ):
        points = plane(array("vectors", vectors, "pairs", "2", "d"))
        for words, ends in zip(pairs, points, strict=True):
            axes.plot(*ends.T, "o-", color=color(place), ms=4, lw=1)
            for word, (x, y) in zip(words, ends, strict=True):
                axes.annotate(word, (x, y), (3, 3), textcoords="offset points", fontsize=10)
        axes.set_title(name)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.margins(0.12)
    figure.suptitle("pairs of words in the plane of two principal components", fontsize=15)
    return figure


def plane(vectors: Float[np.ndarray, "pairs 2 d"]) -> Float[np.ndarray, "pairs 2 2"]:
    """The vectors along their two directions of largest variance."""
    flat = vectors.reshape(-1, vectors.shape[-1])
    centered = flat - flat.mean(0)
    axes = np.linalg.svd(centered, full_matrices=False)[2][:2]
    return (centered @ axes.T).reshape(*vectors.shape[:2], -1)

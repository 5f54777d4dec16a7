"""Text colored by the surprisal of each character under a language model."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.palette import INK
from chainrule.plots.style import WARM_MAP, canvas, styled

COLUMNS = 64
MAX_BITS = 6.0  # larger values have the same color


@styled
def surprisal(text: str, bits: ArrayLike, title: str = "") -> Figure:
    """A text whose background darkens with the surprisal -log₂ p of each character.

    text: the characters.
    bits: the surprisal of each, in bits.
    """
    heat = array("bits", bits, "N")
    same_lengths(text=text, bits=heat)
    if not text:
        raise InputError("expected a text, got none")
    places = character_grid(text)
    rows = places[-1][0] + 1
    figure = canvas(11.0, 0.27 * rows + 1.2)
    axes = figure.add_subplot()
    scale = Normalize(0, MAX_BITS)
    for (row, column), character, value in zip(places, text, heat, strict=True):
        axes.add_patch(Rectangle((column, row), 1, 1, color=WARM_MAP(scale(value)), lw=0))
        ink = "white" if value > 0.5 * MAX_BITS else INK
        shown = "↵" if character == "\n" else character
        axes.text(
            column + 0.5,
            row + 0.55,
            shown,
            ha="center",
            va="center",
            family="monospace",
            fontsize=11,
            color=ink,
        )
    axes.set(xlim=(0, COLUMNS + 1), ylim=(rows, 0))
    axes.set_axis_off()
    mean = float(np.mean(heat))
    axes.set_title(title or f"surprisal of each character, mean {mean:.2f} bits")
    bar = figure.colorbar(
        ScalarMappable(scale, WARM_MAP), ax=axes, label="bits", shrink=0.8, extend="max"
    )
    bar.outline.set_visible(False)
    return figure


def character_grid(text: str) -> list[tuple[int, int]]:
    """(row, column) of every character; lines break at newlines and after 64 characters."""
    places, row, column = [], 0, 0
    for character in text:
        places.append((row, column))
        column += 1
        if character == "\n" or column == COLUMNS:
            row, column = row + 1, 0
    return places

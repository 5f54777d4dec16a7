"""Pictures of text: how surprising every character was."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.style import INK, PALETTE, canvas, drawn

COLUMNS = 64
MOST = 6.0  # bits from which on the color stays the same
HEAT = LinearSegmentedColormap.from_list("heat", ["white", "#F6C48A", PALETTE[5]])


@drawn
def surprise(text: str, bits: ArrayLike, title: str = "") -> Figure:
    """A passage, each character on a ground that darkens with its surprise -log₂ p, in bits."""
    heat = array("bits", bits, "N")
    same_lengths(text=text, bits=heat)
    if not text:
        raise InputError("expected a text, got none")
    places = laid_out(text)
    rows = places[-1][0] + 1
    figure = canvas(11.0, 0.27 * rows + 1.2)
    axes = figure.add_subplot()
    scale = Normalize(0, MOST)
    for (row, column), character, value in zip(places, text, heat, strict=True):
        axes.add_patch(Rectangle((column, row), 1, 1, color=HEAT(scale(value)), lw=0))
        ink = "white" if value > 0.75 * MOST else INK
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
    axes.set_title(title or f"surprise of each character, {mean:.2f} bits in the mean")
    bar = figure.colorbar(
        ScalarMappable(scale, HEAT), ax=axes, label="bits", shrink=0.8, extend="max"
    )
    bar.outline.set_visible(False)
    return figure


def laid_out(text: str) -> list[tuple[int, int]]:
    """(row, column) of every character; a line breaks at its end and after 64 characters."""
    places, row, column = [], 0, 0
    for character in text:
        places.append((row, column))
        row, column = (row, column + 1)
        if character == "\n" or column == COLUMNS:
            row, column = row + 1, 0
    return places

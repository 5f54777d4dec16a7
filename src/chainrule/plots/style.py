"""One look for every figure, and the one way to save them.

The colors keep apart for the common kinds of color blindness, and the first four also in gray:
their lightness is 29, 62, 47 and 70 of 100. Series differ by marker as well as by color.
"""

import io
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter

from chainrule.errors import InputError

PALETTE = ("#004488", "#E07B00", "#1B7F5C", "#56B4E9", "#661100", "#CC3311")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LONGEST = 18  # characters of a class name in a figure
NO_WIDTH = "\u200b"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
INK = "#222222"
QUIET = "#6B7280"
FAINT = "#E5E7EB"
METADATA: dict[str, dict[str, str | None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}

# Starts from matplotlib's defaults, so that a user's own settings cannot change our figures.
# Used as a decorator: the settings hold while the figure is drawn and are put back afterwards.
drawn = matplotlib.style.context(
    [
        "default",
        {
            "font.size": 13,
            "figure.constrained_layout.w_pad": 0.1,
            "figure.constrained_layout.h_pad": 0.1,
            "axes.titlesize": 15,
            "axes.titlelocation": "left",
            "axes.titlepad": 10,
            "axes.labelsize": 13,
            "axes.labelcolor": INK,
            "axes.edgecolor": QUIET,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": FAINT,
            "grid.linewidth": 0.7,
            "text.color": INK,
            "text.parse_math": False,  # a class may be called $a_$
            "xtick.color": QUIET,
            "ytick.color": QUIET,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "lines.linewidth": 2.2,
            "lines.solid_capstyle": "round",
            "legend.frameon": False,
            "svg.hashsalt": "chainrule",
        },
    ]
)


class Powers(LogFormatter):
    """0.01, 1, 100, and beyond that 10⁵ or 2·10⁻⁴, in plain characters; between them 2 and 5."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        if not super().__call__(x, pos) or f"{x:.0e}"[0] not in "125":
            return ""
        if 1e-3 <= x < 1e4:
            return f"{x:.4g}"
        mantissa, exponent = f"{x:.0e}".split("e")
        power = "10" + str(int(exponent)).translate(RAISED)
        return power if mantissa == "1" else f"{mantissa}·{power}"


class End(NamedTuple):
    """Where a line ends, and what to write there."""

    height: float
    text: str
    color: str


def canvas(width: float = 8.0, height: float = 5.5) -> Figure:
    """An empty figure, in inches, that lays itself out."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def color(index: int) -> str:
    """The color of the series or class with this number."""
    return PALETTE[index % len(PALETTE)]


def marker(index: int) -> str:
    """The marker of the series or class with this number."""
    return MARKERS[index % len(MARKERS)]


def tint(name: str, strength: float) -> tuple[float, float, float]:
    """A color thinned with white: 0 is white, 1 the color itself."""
    red, green, blue = 1 - strength * (1 - np.array(to_rgb(name)))
    return float(red), float(green), float(blue)


def shortened(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Names on one line that fit: cut at the end, or in the middle where the ends differ."""
    plain = [" ".join(name.split()) for name in names]
    cut = [_cut(name, longest, 0) for name in plain]
    short = [
        _cut(name, longest, longest // 2) if cut.count(first) > 1 else first
        for name, first in zip(plain, cut, strict=True)
    ]
    # matplotlib leaves names with a leading underscore out of legends.
    return [f"{NO_WIDTH}{name}" if name.startswith("_") else name for name in short]


def _cut(name: str, longest: int, last: int) -> str:
    """At most `longest` characters, of which the `last` ones are the end of the name."""
    if len(name) <= longest:
        return name
    return f"{name[: longest - 1 - last].rstrip()}…{name[len(name) - last :].lstrip()}"


def label_ends(axes: Axes, ends: Sequence[End], gap: float = 0.075) -> None:
    """Names each line to the right of its end, pushed apart where two would collide."""
    axes.set_ylim(axes.get_ylim())
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = sorted(ends)
    heights = [float(to_axes.transform((axes.get_xlim()[1], end.height))[1]) for end in ends]
    lines = [1 + end.text.count("\n") for end in ends]
    for lower, upper in pairwise(range(len(ends))):
        apart = gap * (lines[lower] + lines[upper]) / 2
        heights[upper] = max(heights[upper], heights[lower] + apart)
    for end, height in zip(ends, heights, strict=True):
        axes.text(1.02, height, end.text, color=end.color, va="center", transform=axes.transAxes)


def legend_below(figure: Figure) -> None:
    """A legend under the axes, where it hides nothing, with as many columns as fit."""
    names = [name for axes in figure.axes for name in axes.get_legend_handles_labels()[1]]
    if names:
        fit = int(9 * figure.get_figwidth()) // (max(map(len, names)) + 6)
        figure.legend(loc="outside lower center", ncols=max(1, min(len(names), fit)))


def in_per_cent(axis: Axis) -> None:
    """Writes 0.025 as 2.5 %."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g} %"))


def in_powers(axis: Axis) -> None:
    """Labels a logarithmic axis without mathematical typesetting."""
    axis.set_major_formatter(Powers())
    axis.set_minor_formatter(Powers())


def save(figure: Figure, path: str | Path) -> Path:
    """Writes a PNG (150 dots per inch) or an SVG, whole or not at all, the same bytes each time."""
    path = Path(path)
    if path.suffix not in METADATA:
        raise InputError(f"a figure is saved as .png or .svg, got {path.name!r}")
    content = rendered(figure, path.suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


@drawn
def rendered(figure: Figure, suffix: str) -> bytes:
    """The bytes of a PNG (150 dots per inch) or an SVG."""
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:], dpi=150, metadata=METADATA[suffix])
    return content.getvalue()

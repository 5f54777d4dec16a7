"""One look for every figure, and one way to save them.

Series differ by marker as well as by color.
"""

import io
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogFormatter

from chainrule.errors import InputError
from chainrule.plots.palette import DIVERGING, FAINT, INK, PALETTE, QUIET, SEQUENTIAL, WARM

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MAX_NAME = 18  # characters of a class name in a figure
ZERO_WIDTH = "\u200b"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
METADATA: dict[str, dict[str, str | None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
}

# Starts from matplotlib's defaults, so that a user's own settings cannot change our figures.
# A decorator: the settings hold while a figure is drawn and are restored afterwards.
styled = matplotlib.style.context(
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
            "text.parse_math": False,  # a class may be named $a_$
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


SEQUENTIAL_MAP = LinearSegmentedColormap.from_list("sequential", SEQUENTIAL)
WARM_MAP = LinearSegmentedColormap.from_list("warm", WARM)
DIVERGING_MAP = LinearSegmentedColormap.from_list("diverging", DIVERGING)

FormatValue = Callable[[str, float], str]
"""Writes the value of a metric, given the metric's name."""


class Powers(LogFormatter):
    """Ticks of a logarithmic axis: 0.01, 1, 100, beyond that 10⁵ or 2·10⁻⁴; minor ones at 2, 5."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        if not super().__call__(x, pos) or f"{x:.0e}"[0] not in "125":
            return ""
        if 1e-3 <= x < 1e4:
            return f"{x:.4g}"
        mantissa, exponent = f"{x:.0e}".split("e")
        power = "10" + str(int(exponent)).translate(SUPERSCRIPT)
        return power if mantissa == "1" else f"{mantissa}·{power}"


class End(NamedTuple):
    """The label at the right end of a line."""

    height: float
    text: str
    color: str


def canvas(width: float = 8.0, height: float = 5.5) -> Figure:
    """An empty figure of this size in inches, with a constrained layout."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def color(index: int) -> str:
    """The color of the series or class with this index."""
    return PALETTE[index % len(PALETTE)]


def marker(index: int) -> str:
    """The marker of the series or class with this index."""
    return MARKERS[index % len(MARKERS)]


def tint(name: str, strength: float) -> tuple[float, float, float]:
    """A color mixed with white: strength 0 is white, 1 the color itself."""
    red, green, blue = 1 - strength * (1 - np.array(to_rgb(name)))
    return float(red), float(green), float(blue)


def shortened(names: Sequence[str], longest: int = MAX_NAME) -> list[str]:
    """Names on one line, long ones cut at the end, or in the middle where only the ends differ."""
    plain = [" ".join(name.split()) for name in names]
    cut = [_cut(name, longest, 0) for name in plain]
    short = [
        _cut(name, longest, longest // 2) if cut.count(first) > 1 else first
        for name, first in zip(plain, cut, strict=True)
    ]
    # matplotlib leaves names with a leading underscore out of legends.
    return [f"{ZERO_WIDTH}{name}" if name.startswith("_") else name for name in short]


def _cut(name: str, longest: int, last: int) -> str:
    """At most `longest` characters, the `last` of them from the end of the name."""
    if len(name) <= longest:
        return name
    return f"{name[: longest - 1 - last].rstrip()}…{name[len(name) - last :].lstrip()}"


def label_ends(axes: Axes, ends: Sequence[End], gap: float = 0.075) -> None:
    """Label each line to the right of its end; labels that would collide are moved apart."""
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
    """A legend below the axes with as many columns as fit."""
    names = [name for axes in figure.axes for name in axes.get_legend_handles_labels()[1]]
    if names:
        fit = int(9 * figure.get_figwidth()) // (max(map(len, names)) + 6)
        figure.legend(loc="outside lower center", ncols=max(1, min(len(names), fit)))


def in_percent(axis: Axis) -> None:
    """Label the axis in percent: 0.025 as 2.5 %."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g} %"))


def plain_number(name: str, value: float) -> str:
    """Three significant digits, whatever the metric; whole numbers from 1000 on."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def format_axis(axis: Axis, name: str, format_value: FormatValue) -> None:
    """Label an axis of a metric's values; plain numbers are left to matplotlib."""
    if format_value is not plain_number:
        axis.set_major_formatter(FuncFormatter(lambda value, _: format_value(name, value)))


def in_powers(axis: Axis) -> None:
    """Label a logarithmic axis in plain characters."""
    axis.set_major_formatter(Powers())
    axis.set_minor_formatter(Powers())


def save(figure: Figure, path: str | Path) -> Path:
    """Save a figure as PNG (150 dots per inch) or SVG and return the path.

    The file is written whole or not at all, and the same figure always gives the same bytes.

    path: ends with .png or .svg; missing folders are created.
    """
    path = Path(path)
    if path.suffix not in METADATA:
        raise InputError(f"expected a path that ends with .png or .svg, got {path.name!r}")
    content = rendered(figure, path.suffix)
    try:
        write_whole(path, content)
    except OSError as error:
        raise InputError(
            f"cannot write the picture {path}: {error.strerror}; choose another folder"
        ) from None
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the target and rename over it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        with suppress(OSError):  # the folder may be gone or not allow it
            temporary.unlink()


@styled
def rendered(figure: Figure, suffix: str) -> bytes:
    """The bytes of a PNG (150 dots per inch) or an SVG."""
    content = io.BytesIO()
    figure.savefig(content, format=suffix[1:], dpi=150, metadata=METADATA[suffix])
    return content.getvalue()

"""A claim of the notes in one picture: what theory predicts and what was measured."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from chainrule.errors import InputError
from chainrule.plots.checks import array, same_lengths
from chainrule.plots.style import INK, QUIET, canvas, color, in_powers, legend_below, marker, styled

Series = Mapping[str, Sequence[ArrayLike]]
Mark = float | int | Sequence[float | int]


@styled
def claim_figure(
    title: str,
    x_label: str,
    y_label: str,
    curves: Series | None = None,
    points: Series | None = None,
    marks: Mapping[str, Mark] | None = None,
    bounds: Series | None = None,
    log: str = "",
) -> Figure:
    """Predicted curves as lines, measured points as markers, bounds dashed, marks upright.

    A mark at a number is an upright line there, named above it; at a pair (x, y) it is a small
    text beside that place.

    A series is a pair (x, y). A curve and points of the same name share a color; else the first
    curve goes with the first points, and so on. `log` names the logarithmic axes: "", "x", "y" or
    "xy".
    """
    if log not in ("", "x", "y", "xy"):
        raise InputError(f'expected log to be "", "x", "y" or "xy", got {log!r}')
    lines, dots, limits = (_series(kind) for kind in (curves, points, bounds))
    if not lines and not dots:
        raise InputError("expected a curve or measured points to draw, got neither")
    figure = canvas(8.5, 5.8)
    axes = figure.add_subplot(xlabel=x_label, ylabel=y_label)
    for name in log:
        axes.set(**{f"{name}scale": "log"})
        in_powers(axes.xaxis if name == "x" else axes.yaxis)
    uprights, notes = _marks(marks or {})
    axes.set_title(fill(title, 70), pad=32 if uprights else 12)
    for index, (name, (x, y)) in enumerate(lines.items()):
        label = f"{name}, predicted" if name in dots else name
        axes.plot(x, y, color=color(index), label=label, zorder=2)
    for index, (name, (x, y)) in enumerate(dots.items()):
        place = list(lines).index(name) if name in lines else index
        _measured(axes, x, y, place, f"{name}, measured" if name in lines else name)
    for index, (name, (x, y)) in enumerate(limits.items()):
        dashes = (0, (6 - 2 * (index % 3), 2 + index % 3))
        axes.plot(x, y, color=INK, ls=dashes, lw=1.6, label=name, zorder=2)
    for name, where in uprights.items():
        axes.axvline(where, color=QUIET, ls=":", lw=1.6)
        across = axes.get_xaxis_transform()
        axes.text(where, 1.02, name, color=QUIET, ha="center", va="bottom", transform=across)
    _write_notes(axes, notes)
    legend_below(figure)
    return figure


def _series(series: Series | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The pairs as arrays of equal length."""
    found = {}
    for name, pair in (series or {}).items():
        if len(pair) != 2:
            raise InputError(f"{name}: expected a pair (x, y), got {len(pair)} values")
        x, y = array(f"{name}: x", pair[0], "N"), array(f"{name}: y", pair[1], "N")
        same_lengths(x=x, y=y)
        found[name] = (x, y)
    return found


def _marks(
    marks: Mapping[str, Mark],
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Upright lines, which have one coordinate, and notes, which have two."""
    uprights, notes = {}, {}
    for name, where in marks.items():
        place = np.asarray(where, dtype=float)
        if place.shape not in ((), (2,)):
            raise InputError(f"{name}: expected a mark at a number or a pair (x, y), got {where}")
        if place.ndim:
            notes[name] = (float(place[0]), float(place[1]))
        else:
            uprights[name] = float(place)
    return uprights, notes


def _write_notes(axes: Axes, notes: Mapping[str, tuple[float, float]]) -> None:
    """Small texts, each on that side of its place where there is more room."""
    axes.autoscale_view()  # else the limits are those of empty axes until the figure is drawn
    to_axes = axes.transData + axes.transAxes.inverted()
    for text, place in notes.items():
        right, up = to_axes.transform(place) < 0.5
        axes.annotate(
            text,
            place,
            xytext=(9 if right else -9, 9 if up else -9),
            textcoords="offset points",
            ha="left" if right else "right",
            va="bottom" if up else "top",
            fontsize=11,
            color=INK,
            zorder=4,
        )


def _measured(axes: Axes, x: np.ndarray, y: np.ndarray, place: int, label: str) -> None:
    """Markers; what a logarithmic axis cannot show is drawn hollow on the lower edge."""
    look: dict[str, Any] = {"marker": marker(place), "ls": "", "ms": 8, "zorder": 3}
    shown = y > 0 if axes.get_yscale() == "log" else np.ones(len(y), bool)
    axes.plot(x[shown], y[shown], color=color(place), mec="white", mew=0.9, label=label, **look)
    if not shown.all():
        look |= {"mfc": "none", "mec": color(place), "transform": axes.get_xaxis_transform()}
        axes.plot(x[~shown], np.zeros((~shown).sum()), clip_on=False, **look)

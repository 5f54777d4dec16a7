"""A computation graph: inputs at the top, the output at the bottom.

Nodes are arranged in levels, each below its arguments, and ordered within a level so that few edges
cross (Sugiyama et al. 1981); an edge over several levels is routed around the nodes between.
"""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import BoxStyle, FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path
from scipy.optimize import isotonic_regression

from chainrule.errors import InputError
from chainrule.plots.palette import BLUE, BROWN, FAINT, INK, ORANGE, QUIET
from chainrule.plots.style import canvas, styled, tint

Row = tuple[str, str, str, str, str]
Edge = tuple[int, int]
LEAVES = ("input", "constant")
LINE, FALL, GAP, CHARACTER, FONT = 0.19, 0.42, 0.3, 0.082, 10  # inches, and points
SWEEPS = 12


class Box(NamedTuple):
    """The text and color of a node; a point that an edge passes through has no text."""

    head: str = ""
    lines: tuple[tuple[str, str], ...] = ()
    color: str | tuple[float, float, float] = "white"

    @property
    def width(self) -> float:
        texts = [self.head, *(text for text, _ in self.lines)]
        return max(map(len, texts)) * CHARACTER + 0.2 if self.head else 0.1

    @property
    def height(self) -> float:
        return LINE * (1 + len(self.lines)) + 0.12


@styled
def computation_graph(nodes: Sequence[Row], edges: Sequence[Edge], title: str = "") -> Figure:
    """A drawing of a computation graph.

    nodes: (name, operation, shape, value, gradient) of each node, as text.
    edges: (from, to) node indices.
    """
    level = levels([row[1] in LEAVES for row in nodes], edges)
    boxes = [box(row, last=level[i] == max(level)) for i, row in enumerate(nodes)]
    routes, level = routed(edges, level)
    boxes += [Box()] * (len(level) - len(boxes))
    x = columns(boxes, level, [step for route in routes for step in pairwise(route)])
    y, half = heights(boxes, level)
    figure, axes = sheet(boxes, x, y, title)
    for route in routes:
        arrow(axes, x[route], y[route] + half[route], y[route] - half[route])
    for box_i, x_i, y_i in zip(boxes, x, y, strict=True):
        if box_i.head:
            write(axes, box_i, x_i, y_i)
    return figure


def box(row: Row, last: bool) -> Box:
    """The box of a node."""
    name, operation, shape, value, gradient = row
    color = tint(BLUE, 0.12) if operation == "input" else "white"
    color = FAINT if operation == "constant" else tint(ORANGE, 0.2) if last else color
    lines = [(f"value {value}", INK)] if value else []
    lines += [(f"gradient {gradient}", BROWN)] if gradient else []
    return Box(f"{name}  {shape}".strip(), tuple(lines), color)


def levels(is_leaf: Sequence[bool], edges: Sequence[Edge]) -> list[int]:
    """The level of each node: results below their lowest argument, inputs just above their use."""
    sorter: TopologicalSorter[int] = TopologicalSorter(dict.fromkeys(range(len(is_leaf)), ()))
    for start, end in edges:
        sorter.add(end, start)
    try:
        order = list(sorter.static_order())
    except CycleError as error:
        cycle = " → ".join(map(str, error.args[1]))
        raise InputError(f"expected a graph without cycles, got {cycle}") from None
    level = [0] * len(is_leaf)
    for i in order:
        level[i] = max((level[start] + 1 for start, end in edges if end == i), default=0)
    for i, leaf in enumerate(is_leaf):
        below = [level[end] for start, end in edges if start == i]
        if leaf and below:
            level[i] = min(below) - 1
    return level


def routed(edges: Sequence[Edge], level: list[int]) -> tuple[list[list[int]], list[int]]:
    """Edges as routes with one point per level, and the levels including these points."""
    level, routes = list(level), []
    for start, end in edges:
        between = range(level[start] + 1, level[end])
        routes.append([start, *range(len(level), len(level) + len(between)), end])
        level += between
    return routes, level


def columns(boxes: Sequence[Box], level: Sequence[int], steps: Sequence[Edge]) -> np.ndarray:
    """x of every box: sweeps down and up move each level as close to its neighbors as possible."""
    rows = [[i for i in range(len(level)) if level[i] == l] for l in range(max(level) + 1)]  # noqa: E741
    above: list[list[int]] = [[] for _ in level]
    below: list[list[int]] = [[] for _ in level]
    for start, end in steps:
        above[end].append(start)
        below[start].append(end)
    x = np.zeros(len(level))
    for row in rows:
        spread(row, boxes, x, np.arange(len(row), dtype=float), np.ones(len(row)))
    inner = np.array([1.0 if not a else 8.0 for a in above])  # results have more weight than inputs
    for sweep in range(SWEEPS):
        near, order = (above, rows) if sweep % 2 == 0 else (below, rows[::-1])
        for row in order:
            wish = np.array(
                [np.average(x[near[i]], weights=inner[near[i]]) if near[i] else x[i] for i in row]
            )
            row.sort(key=dict(zip(row, wish, strict=True)).__getitem__)
            spread(row, boxes, x, np.sort(wish), inner[row])
    return x - x.min()


def spread(
    row: Sequence[int], boxes: Sequence[Box], x: np.ndarray, wish: np.ndarray, weight: np.ndarray
) -> None:
    """min Σ w_i (x_i - wish_i)² with room between neighbors: an isotonic regression."""
    widths = [boxes[i].width for i in row]
    room = np.cumsum([0, *((a + b) / 2 + GAP for a, b in pairwise(widths))])
    x[list(row)] = isotonic_regression(wish - room, weights=weight).x + room


def heights(boxes: Sequence[Box], level: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """y and half the height of every box; a passing edge is as high as its level."""
    tallest = [0.0] * (max(level) + 1)
    for box_i, l in zip(boxes, level, strict=True):  # noqa: E741
        tallest[l] = max(tallest[l], box_i.height)
    steps = [0.0, *((a + b) / 2 + FALL for a, b in pairwise(tallest))]
    half = [
        (b.height if b.head else tallest[l]) / 2
        for b, l in zip(boxes, level, strict=True)  # noqa: E741
    ]
    return -np.cumsum(steps)[list(level)], np.array(half)


def sheet(boxes: Sequence[Box], x: np.ndarray, y: np.ndarray, title: str) -> tuple[Figure, Axes]:
    """A figure whose units are inches, with room for every box and the title."""
    half = np.array([[b.width / 2, b.height / 2] for b in boxes])
    left, right = (x - half[:, 0]).min() - 0.2, (x + half[:, 0]).max() + 0.2
    right = max(right, left + 0.11 * len(title) + 0.4)
    bottom, top = (y - half[:, 1]).min() - 0.2, (y + half[:, 1]).max() + (0.6 if title else 0.2)
    figure = canvas(right - left, top - bottom)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.axis("off")
    axes.text(left + 0.2, top - 0.3, title, fontsize=13, va="center")
    return figure, axes


def write(axes: Axes, box: Box, x: float, y: float) -> None:
    """Draw a rounded box with its lines of text."""
    corner = (x - box.width / 2, y - box.height / 2)
    shape = BoxStyle("Round", pad=0, rounding_size=0.08)
    axes.add_patch(
        FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, fc=box.color, ec=QUIET)
    )
    top = y + box.height / 2 - 0.06 - LINE / 2
    axes.text(x, top, box.head, fontsize=FONT, ha="center", va="center", weight="bold")
    for number, (text, color) in enumerate(box.lines, 1):
        place = top - number * LINE
        axes.text(x, place, text, fontsize=FONT - 1, ha="center", va="center", color=color)


def arrow(axes: Axes, x: np.ndarray, head: np.ndarray, foot: np.ndarray) -> None:
    """Draw a smooth arrow along a route, vertical where it passes a level."""
    points, codes = [(x[0], foot[0])], [Path.MOVETO]
    for (x_a, x_b), y_a, y_b, y_c in zip(pairwise(x), foot, head[1:], foot[1:], strict=False):
        middle = (y_a + y_b) / 2
        points += [(x_a, middle), (x_b, middle), (x_b, y_b), (x_b, y_c)]
        codes += [Path.CURVE4] * 3 + [Path.LINETO]
    axes.add_patch(
        FancyArrowPatch(
            path=Path(points[:-1], codes[:-1]),
            arrowstyle="-|>",
            mutation_scale=10,
            color=QUIET,
            linewidth=1.1,
            zorder=0.5,
        )
    )

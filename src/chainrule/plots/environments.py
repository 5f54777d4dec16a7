"""Reinforcement learning: state values and policy, learning curves, episodes as film strips."""

from collections.abc import Mapping, Sequence
from typing import SupportsFloat

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from chainrule.errors import InputError
from chainrule.plots.palette import BLUE, FAINT, INK, ORANGE, PALETTE, QUIET
from chainrule.plots.style import End, canvas, in_powers, label_ends, styled, tint

DIRECTIONS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # up, right, down, left; y points down
COLUMNS = 4  # frames side by side in a film strip
TRACK = 2.4  # meters from the middle to either end
POLE = 1.0  # meters, twice the half-length of the equations


@styled
def grid_values(
    rows: Sequence[str],
    values: Float[np.ndarray, "height width"],
    policy: Int[np.ndarray, "height width"],
    title: str = "state values and greedy policy",
) -> Figure:
    """A grid world with its state values as colors and numbers and its policy as arrows.

    rows: the map; . is a free cell, S the start, # a wall, G the goal, X a trap.
    values: the value of each cell.
    policy: the action in each cell: 0 up, 1 right, 2 down, 3 left.
    """
    height, width = values.shape
    if (len(rows), len(rows[0])) != values.shape or policy.shape != values.shape:
        raise InputError(f"expected {len(rows)} × {len(rows[0])} cells, got {height} × {width}")
    figure = canvas(max(5.0, 0.95 * width + 1.2), max(3.6, 0.95 * height + 1.0))
    axes = figure.subplots()
    limit = max(1e-9, float(np.nanmax(np.abs(values))))
    for y, row in enumerate(rows):
        for x, mark in enumerate(row):
            _cell(axes, (x, y), mark, float(values[y, x]) / limit)
            if mark in ".S":
                axes.text(x, y + 0.3, f"{values[y, x]:.2f}", ha="center", va="center", size=10)
                _arrow(axes, (x, y), DIRECTIONS[int(policy[y, x])])
    axes.set(xlim=(-0.52, width - 0.48), ylim=(height - 0.48, -0.52), aspect="equal")
    axes.set_title(title)
    axes.axis("off")
    return figure


def _cell(axes: Axes, place: tuple[int, int], mark: str, value: float) -> None:
    """One square: blue for positive values, orange for negative ones, gray for a wall."""
    x, y = place
    ends = {"G": (BLUE, "goal"), "X": (ORANGE, "trap")}
    if mark == "#":
        fill: object = QUIET
    elif mark in ends:
        fill = ends[mark][0]
        axes.text(x, y, ends[mark][1], ha="center", va="center", color="white", weight="bold")
    else:
        fill = tint(BLUE if value >= 0 else ORANGE, 0.6 * min(1.0, abs(value)))
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fc=fill, ec="white", lw=2))
    if mark == "S":
        axes.add_patch(Rectangle((x - 0.44, y - 0.44), 0.88, 0.88, fc="none", ec=INK, lw=2))


def _arrow(axes: Axes, place: tuple[int, int], direction: tuple[int, int]) -> None:
    (x, y), (dx, dy) = place, direction
    middle = y - 0.13
    axes.annotate(
        "",
        xy=(x + 0.2 * dx, middle + 0.2 * dy),
        xytext=(x - 0.2 * dx, middle - 0.2 * dy),
        arrowprops={"arrowstyle": "-|>", "color": INK, "lw": 1.8, "shrinkA": 0, "shrinkB": 0},
    )


@styled
def return_curve(
    history: Sequence[Mapping[str, SupportsFloat]],
    metric: str = "return",
    reference: tuple[str, float] | None = None,
) -> Figure:
    """The mean return of several agents over their steps, with a band over the agents.

    history: one mapping per epoch with `steps`, `validation_METRIC` (mean return of the greedy
        policies), `validation_low` and `validation_high` (10th and 90th percentile), and maybe
        `train_METRIC` (mean return while exploring).
    metric: its name; larger is better.
    reference: a label and a value, drawn as a dashed line.
    """
    mean = _column(history, f"validation_{metric}")
    if not np.isfinite(mean).any():
        raise InputError(f"expected epochs with a finite validation_{metric}, got none")
    steps, low, high = (_column(history, k) for k in ("steps", "validation_low", "validation_high"))
    explored = _column(history, f"train_{metric}")
    figure = canvas(9.0, 5.2)
    axes = figure.subplots()
    ends = [End(float(mean[np.isfinite(mean)][-1]), "greedy", BLUE)]
    if (high > low).any():
        axes.fill_between(steps, low, high, color=tint(BLUE, 0.25), lw=0, label="band")
    if (known := np.isfinite(explored)).any():  # an epoch may end no episode
        axes.plot(steps[known], explored[known], color=ORANGE, label="exploring")
        ends.append(End(float(explored[known][-1]), "exploring", ORANGE))
    axes.plot(steps, mean, color=BLUE, label="greedy")
    if reference is not None:
        axes.axhline(reference[1], color=QUIET, ls=(0, (5, 3)), lw=1.8, label="reference")
        ends.append(End(reference[1], reference[0], QUIET))
    if (high > low).any():
        axes.set_title(f"{metric}: mean and 10th to 90th percentile of the agents")
    else:
        best = int(np.nanargmax(mean))
        axes.plot(steps[best], mean[best], "o", ms=13, mfc="none", mec=INK, mew=1.8, label="kept")
        axes.set_title(f"{metric}: best {mean[best]:.3g} after {steps[best]:,.0f} steps")
    axes.set_xlabel("steps per agent")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.margins(x=0.02, y=0.08)
    label_ends(axes, ends)
    return figure


def _column(
    history: Sequence[Mapping[str, SupportsFloat]], key: str
) -> Float[np.ndarray, " epochs"]:
    """One value per epoch, NaN where it is missing."""
    return np.array([float(row.get(key, np.nan)) for row in history])


@styled
def contraction(changes: Float[np.ndarray, " sweeps"], discount: float) -> Figure:
    """The change of V in each sweep of value iteration, and its bound.

    changes: ‖T V - V‖∞ of each sweep.
    discount: γ; the bound is γᵏ times the first change.
    """
    figure = canvas(8.0, 5.0)
    axes = figure.subplots()
    sweeps = np.arange(1, len(changes) + 1)
    positive = changes > 0
    axes.plot(sweeps[positive], changes[positive], color=BLUE)
    bound = changes[0] * discount ** (sweeps - 1.0)
    axes.plot(sweeps, bound, color=QUIET, ls=(0, (5, 3)), lw=1.8)
    axes.set_yscale("log")
    in_powers(axes.yaxis)
    axes.set_title("change of V in each sweep, ‖T V - V‖∞")
    axes.set_xlabel("sweep")
    axes.margins(x=0.02)
    last = float(changes[positive][-1])
    label_ends(axes, [End(last, "measured", BLUE), End(float(bound[-1]), "bound γᵏ", QUIET)])
    return figure


@styled
def cart_pole_strip(carts: Float[np.ndarray, "steps 4"], seconds: float, title: str) -> Figure:
    """Frames of a cart and its pole, evenly spaced over an episode.

    carts: (x, v, θ, ω) at each step.
    seconds: duration of a step.
    """
    shown = evenly_spaced(len(carts), 2 * COLUMNS)
    figure = canvas(3.1 * COLUMNS, 3.9)
    grid = figure.subplots(2, COLUMNS, squeeze=False).ravel()
    for axes, step in zip(grid, shown, strict=False):
        x, theta = float(carts[step, 0]), float(carts[step, 2])
        _cart(axes, x, theta)
        degrees = round(np.degrees(theta), 1) + 0.0  # avoids -0.0
        axes.set_title(f"{step * seconds:.1f} s, {degrees:+.1f}°", size=12)
    for axes in grid[len(shown) :]:
        axes.remove()
    figure.suptitle(title, x=0.01, ha="left", size=15)
    return figure


def _cart(axes: Axes, x: float, theta: float) -> None:
    axes.plot([-TRACK, TRACK], [0, 0], color=QUIET, lw=1.5)
    axes.plot([-TRACK, -TRACK, np.nan, TRACK, TRACK], [-0.1, 0.1, np.nan, -0.1, 0.1], color=QUIET)
    axes.add_patch(Rectangle((x - 0.3, 0.05), 0.6, 0.3, fc=BLUE, ec="none"))
    tip = x + POLE * np.sin(theta), 0.35 + POLE * np.cos(theta)
    axes.plot([x, tip[0]], [0.35, tip[1]], color=ORANGE, lw=5)
    axes.add_patch(Circle((x, 0.35), 0.07, fc=INK, ec="none", zorder=3))
    axes.set(xlim=(-TRACK - 0.3, TRACK + 0.3), ylim=(-0.3, 1.6), aspect="equal")
    axes.axis("off")


@styled
def film_strip(frames: Sequence[np.ndarray], titles: Sequence[str], title: str) -> Figure:
    """Rendered frames of an environment, each with its own title."""
    if not frames or len(frames) != len(titles):
        raise InputError(f"expected a title for every frame, got {len(frames)} and {len(titles)}")
    rows = -(-len(frames) // COLUMNS)
    figure = canvas(3.1 * COLUMNS, 2.6 * rows + 0.6)
    grid = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for axes in grid:
        axes.axis("off")
    for axes, frame, name in zip(grid, frames, titles, strict=False):
        axes.imshow(frame)
        axes.set_title(name, size=12)
        axes.add_patch(
            Rectangle((0, 0), 1, 1, transform=axes.transAxes, fc="none", ec=FAINT, lw=1.5)
        )
    figure.suptitle(title, x=0.01, ha="left", size=15)
    return figure


@styled
def observation_curves(observations: Float[np.ndarray, "steps n"], title: str) -> Figure:
    """The observations of an episode, one curve per component."""
    figure = canvas(9.0, 5.2)
    axes = figure.subplots()
    numbers = min(observations.shape[1], len(PALETTE))
    for k in range(numbers):
        axes.plot(observations[:, k], color=PALETTE[k], lw=1.6)
    axes.set_title(title)
    axes.set_xlabel("step")
    axes.margins(x=0.02)
    ends = [End(float(observations[-1, k]), f"x{k + 1}", PALETTE[k]) for k in range(numbers)]
    label_ends(axes, ends)
    return figure


def evenly_spaced(length: int, number: int) -> list[int]:
    """`number` indices of a sequence, from the first to the last."""
    return sorted({int(i) for i in np.linspace(0, length - 1, number).round()})

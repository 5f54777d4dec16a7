"""Grid world: walk over the cells of a map on slippery ground.

    r(s, a, s') = c + 1 on entering G, c - 1 on entering X,    c = reward of every step
    P(s' | s, a) = 1 - p for the chosen direction,  p / 2 for each direction at right angles to it

A step into a wall (#) or off the map leaves the agent where it is. G and X are terminal; episodes
start at S. With p = 0.2, c = -0.04 and the rows ...G, .#.X, S... it is the textbook's world.

Russell and Norvig (1995), Artificial Intelligence, chapter 17. Notes: A 4.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Finite, Share, checked
from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP

DIRECTIONS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
TEXTBOOK = ("...G", ".#.X", "S...")
MAP = (
    "S...#.....",
    "..#.#.##..",
    "..#....#X.",
    ".##.X#.#..",
    "....##.#.#",
    ".#X.....#.",
    ".##.##....",
    "......X#.G",
)


@checked
class GridWorld(MDP):
    """A decision process whose states are the cells of a map that are not walls.

        r(s, a, s') = c + 1 on entering G, c - 1 on entering X, else c
        P(s' | s, a) = 1 - p for the chosen direction, p / 2 for each at right angles

    The actions are up, right, down, left.

    Args:
        rows: The map: "." ground, "#" wall, "S" start, "G" goal, "X" trap.
        slip: p, the probability of moving at right angles.
        discount: γ, at least 0 and below 1.
        step_reward: c, usually negative.

    >>> from chainrule.environments import GridWorld
    >>> world = GridWorld(["S.G"], slip=0.0)
    >>> world.num_states, world.action_names
    (3, ('up', 'right', 'down', 'left'))
    """

    def __init__(
        self,
        rows: Sequence[str] = MAP,
        slip: Share = 0.2,
        discount: Finite = 0.95,
        step_reward: Finite = -0.04,
    ):
        self.rows = check_map(rows)
        self.cells = [
            (y, x) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark != "#"
        ]
        self.start = next(i for i, (y, x) in enumerate(self.cells) if rows[y][x] == "S")
        if not 0 <= slip <= 1:
            raise InputError(f"slip must be a probability from 0 to 1, got {slip}")
        P, R = tensors(self.rows, self.cells, slip, step_reward)
        super().__init__(P, R, discount, tuple(DIRECTIONS))

    def on_map(self, values: Float[Tensor, " states"]) -> Float[Tensor, "height width"]:
        """One value per cell of the map; walls are NaN."""
        grid = torch.full((len(self.rows), len(self.rows[0])), torch.nan, dtype=values.dtype)
        y, x = torch.tensor(self.cells).T
        grid[y, x] = values
        return grid


def tensors(
    rows: Sequence[str], cells: Sequence[tuple[int, int]], slip: float, step_reward: float
) -> tuple[Tensor, Tensor]:
    """P[a, s, s'] and R[a, s, s'] of a map."""
    number, n = {cell: i for i, cell in enumerate(cells)}, len(cells)
    marks = [rows[y][x] for y, x in cells]
    P = torch.zeros(len(DIRECTIONS), n, n, dtype=torch.float64)
    moves = list(DIRECTIONS.values())
    for s, (y, x) in enumerate(cells):
        reached = [number.get((y + dy, x + dx), s) for dy, dx in moves]
        for a in range(len(moves)):
            if marks[s] in "GX":
                P[a, s, s] = 1
                continue
            for turn, p in ((0, 1 - slip), (1, slip / 2), (3, slip / 2)):
                P[a, s, reached[(a + turn) % 4]] += p
    prize = torch.tensor([{"G": 1.0, "X": -1.0}.get(mark, 0.0) for mark in marks]).double()
    terminal = torch.tensor([mark in "GX" for mark in marks])
    R = (prize + step_reward).expand_as(P).masked_fill(terminal[:, None], 0.0)
    return P, R


def check_map(rows: Sequence[str]) -> tuple[str, ...]:
    """The rows as a tuple; an error unless they are a map with one start and a goal."""
    wrong = sorted(set("".join(rows)) - set(".#GXS"))
    if not rows or len({len(row) for row in rows}) > 1:
        raise InputError("a map needs rows of equal length")
    if wrong:
        raise InputError(f"a map consists of . # S G X, got {' '.join(wrong)}")
    text = "".join(rows)
    if text.count("S") != 1 or "G" not in text:
        raise InputError("a map needs one start S and at least one goal G")
    return tuple(rows)


def example() -> tuple[GridWorld, Tensor]:
    """The textbook's world of eleven cells, and three value functions."""
    world = GridWorld(TEXTBOOK)
    return world, torch.randn(3, world.num_states).double()

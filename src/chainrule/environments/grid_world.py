"""Grid world: a walk over the cells of a map, on ground that may be slippery.

    r(s, a, s') = c + 1 on entering G, c - 1 on entering X,    c = cost of a step, below zero
    P(s' | s, a) = 1 - p for the way meant,  p / 2 for each way at right angles to it

A step into a wall (#) or over the rim leads nowhere. G and X are ends; S is where walks begin. With
p = 0.2, c = -0.04 and the three rows ...G, .#.X, S... it is the world of the textbook.

Russell and Norvig (1995), Artificial Intelligence, chapter 17. Notes: A 4.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.reinforcement.mdp import MDP

WAYS = {"up": (-1, 0), "right": (0, 1), "down": (1, 0), "left": (0, -1)}
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


class GridWorld(MDP):
    """A Markov decision process whose states are the cells of a map that are not walls."""

    def __init__(
        self,
        rows: Sequence[str] = MAP,
        slip: float = 0.2,
        discount: float = 0.95,
        cost: float = -0.04,
    ):
        self.rows = checked(rows)
        self.cells = [
            (y, x) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark != "#"
        ]
        self.start = next(i for i, (y, x) in enumerate(self.cells) if rows[y][x] == "S")
        if not 0 <= slip <= 1:
            raise InputError(f"slip must be a probability, got {slip}")
        P, R = tensors(self.rows, self.cells, slip, cost)
        super().__init__(P, R, discount, tuple(WAYS))

    def on_map(self, values: Float[Tensor, " states"]) -> Float[Tensor, "height width"]:
        """One number per cell; walls are NaN."""
        drawn = torch.full((len(self.rows), len(self.rows[0])), torch.nan, dtype=values.dtype)
        y, x = torch.tensor(self.cells).T
        drawn[y, x] = values
        return drawn


def tensors(
    rows: Sequence[str], cells: Sequence[tuple[int, int]], slip: float, cost: float
) -> tuple[Tensor, Tensor]:
    """P[a, s, s'] and R[a, s, s'] of a map."""
    number, n = {cell: i for i, cell in enumerate(cells)}, len(cells)
    marks = [rows[y][x] for y, x in cells]
    P = torch.zeros(len(WAYS), n, n, dtype=torch.float64)
    ways = list(WAYS.values())
    for s, (y, x) in enumerate(cells):
        reached = [number.get((y + dy, x + dx), s) for dy, dx in ways]
        for a in range(len(ways)):
            if marks[s] in "GX":
                P[a, s, s] = 1
                continue
            for turn, p in ((0, 1 - slip), (1, slip / 2), (3, slip / 2)):
                P[a, s, reached[(a + turn) % 4]] += p
    prize = torch.tensor([{"G": 1.0, "X": -1.0}.get(mark, 0.0) for mark in marks]).double()
    ends = torch.tensor([mark in "GX" for mark in marks])
    R = (prize + cost).expand_as(P).masked_fill(ends[:, None], 0.0)
    return P, R


def checked(rows: Sequence[str]) -> tuple[str, ...]:
    """The map itself, if it is one."""
    wrong = sorted(set("".join(rows)) - set(".#GXS"))
    if not rows or len({len(row) for row in rows}) > 1:
        raise InputError("a map needs rows of equal length")
    if wrong:
        raise InputError(f"a map is drawn with . # S G X, got {' '.join(wrong)}")
    text = "".join(rows)
    if text.count("S") != 1 or "G" not in text:
        raise InputError("a map needs one start S and at least one goal G")
    return tuple(rows)


def example() -> tuple[GridWorld, Tensor]:
    """The textbook's world of eleven cells, and three value functions."""
    world = GridWorld(TEXTBOOK)
    return world, torch.randn(3, world.states).double()

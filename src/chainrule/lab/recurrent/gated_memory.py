"""Claim: gated cells learn to remember over 40 steps, an Elman network does not (J 5.1).

    y = u_i + u_j,  i in the first half of T steps, j in the second      the adding problem
    rmse of a cell that keeps neither number: √(1/6) = 0.41,   only the later one: √(1/12) = 0.29

Measured: LSTM, GRU and Elman networks of 16 units, trained with the same 250 batches for T = 10, 20
and 40, gates with biases spread over T steps (`remember`); the root mean squared error on new
sequences. The largest of the gated cells.
Bound: half of √(1/12), which is out of reach for a cell that has lost a number. At T = 40 Elman's
must be above √(1/12). With its forget gate held at 0.9 an LSTM fails as well.
How far each cell gets with more training, and on the copy task: recipes `adding`, `copy-memory`.
Hochreiter and Schmidhuber (1997); for the biases Tallec and Ollivier (2018), ICLR. A 2.4,
L "RNN: Training".
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from chainrule.data.datasets import adding
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.recurrent import GRU, LSTM, Elman, SequenceClassifier
from chainrule.models.recurrent.recurrent import Recurrent, State

UNITS, BATCHES, BATCH, TESTED = 16, 250, 64, 2000
RATE, CLIP = 3e-2, 1.0
LENGTHS = (10, 20, 40)
ONE_LOST, BOTH_LOST = math.sqrt(1 / 12), math.sqrt(1 / 6)
Cell = Callable[[int], Recurrent]


def check(seed: int = 0) -> Verdict:
    """Gates that can learn."""
    return verdict(seed, {"LSTM": gated(LSTM), "GRU": gated(GRU)}, LENGTHS)


def broken() -> Verdict:
    """An Elman network in the place of the gated cells."""
    return verdict(0, {"LSTM": elman}, LENGTHS[-1:])


def near() -> Near:
    """A forget gate that cannot learn, and a sequence so short that Elman's gradient survives."""
    longest = LENGTHS[-1:]
    return {
        "forget gate held at 0.9": lambda: verdict(0, {"LSTM": held(0.9)}, longest, False),
        "forget gate held at 0.8": lambda: verdict(0, {"LSTM": held(0.8)}, longest, False),
        "T = 5": lambda: verdict(0, {"LSTM": gated(LSTM)}, (5,)),
    }


class Held(LSTM):
    """An LSTM whose forget gate is a constant."""

    def __init__(self, inputs: int, units: int, gate: float):
        super().__init__(inputs, units)
        self.rows, self.logit = slice(units, 2 * units), math.log(gate / (1 - gate))

    def forward(
        self, x: Tensor, state: State | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        W, U, b, c = self.kernel.all_weights[0]
        for weights, value in ((W, 0.0), (U, 0.0), (b, self.logit), (c, 0.0)):
            weights.data[self.rows] = value
        return super().forward(x, state, lengths)


def gated(kind: type[LSTM] | type[GRU]) -> Cell:
    """New cells with biases for T steps."""

    def make(T: int) -> Recurrent:
        layer = kind(2, UNITS)
        layer.remember(T)
        return layer

    return make


def held(gate: float) -> Cell:
    """LSTMs with a constant forget gate."""
    return lambda T: Held(2, UNITS, gate)


def elman(T: int) -> Recurrent:
    """A new Elman layer."""
    return Elman(2, UNITS)


def verdict(
    seed: int, cells: Mapping[str, Cell], lengths: tuple[int, ...], compared: bool = True
) -> Verdict:
    """Errors by length; with Elman's where they are compared."""
    found = {name: [learned(cell, T, seed) for T in lengths] for name, cell in cells.items()}
    worst = max(max(errors) for errors in found.values())
    conditions = {}
    if compared:
        found["Elman"] = [learned(elman, T, seed) for T in lengths]
        conditions["Elman's error above √(1/12) at the largest T"] = found["Elman"][-1] > ONE_LOST
    times, ends = [float(T) for T in lengths], [float(lengths[0]), float(lengths[-1])]
    return Verdict(
        quantity="largest rmse of the gated cells",
        measured=worst,
        relation="≤",
        bound=ONE_LOST / 2,
        conditions=conditions,
        picture=Picture(
            title="After the same training, gated cells remember and Elman's does not",
            x_label="steps T",
            y_label="rmse on the adding problem",
            points={name: (times, errors) for name, errors in found.items()},
            bounds={
                "both numbers forgotten": (ends, [BOTH_LOST] * 2),
                "the first one forgotten": (ends, [ONE_LOST] * 2),
            },
        ),
        details={f"{name}, T = {lengths[-1]}": errors[-1] for name, errors in found.items()},
    )


def learned(cell: Cell, T: int, seed: int) -> float:
    """The error of a new cell after training; every batch is new."""
    x, y = adding.sample(BATCHES * BATCH + TESTED, T, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SequenceClassifier(cell(T), 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    batches = zip(x[TESTED:].split(BATCH), y[TESTED:].split(BATCH), strict=True)
    for x_batch, y_batch in batches:
        optimizer.zero_grad()
        (model(x_batch).squeeze(1) - y_batch).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
    with torch.no_grad():
        return (model(x[:TESTED]).squeeze(1) - y[:TESTED]).square().mean().sqrt().item()

"""Milliseconds of recurrent layers: a step of training beside torch.nn, and the scan beside loops.

    make bench

The classifiers read 100 steps of 64 inputs, batch 64, into 128 units, and answer with 10 classes; a
step is forward, loss and backward. torch.nn.LSTM with an affine map is the peer of them all, also
of the notes' variants, which have other equations and no kernel in torch. The scan is timed forward
and backward on (16, 1024, 64) beside two loops: one that takes a[:, t] at every step, as one writes
it first, and one over slices made beforehand, which spares autograd a zeroed copy of a and b at
every step. All contestants take turns in every round, so that a busy moment of the machine hits
them alike; the best of the rounds counts. With one thread, the default, it is processor time that
is taken, which other processes do not lengthen; with more it is the time on the wall.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.layers import CELLS
from chainrule.models.recurrent.lstm import LSTM
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.scan import loop, scan
from chainrule.training.devices import GLIBC_MOST, KEPT_BYTES, keep_freed_memory

BATCH, STEPS, INPUTS, UNITS, CLASSES = 64, 100, 64, 128, 10
SHAPE = (16, 1024, 64)
LENGTHS = (256, 1024, 4096, 16_384, 65_536)
Call = Callable[[], object]


class Peer(nn.Module):
    """torch's layer and an affine map of its last output."""

    def __init__(self, layer: nn.RNNBase):
        super().__init__()
        self.layer, self.output = layer, nn.Linear(UNITS, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        return self.output(self.layer(x)[0][:, -1])


def classifiers() -> dict[str, Call]:
    """One step of training for each network on the same batch."""
    x, y = torch.randn(BATCH, STEPS, INPUTS), torch.randint(CLASSES, (BATCH,))
    networks: dict[str, nn.Module] = {
        "torch.nn.LSTM": Peer(nn.LSTM(INPUTS, UNITS, batch_first=True)),
        "LSTM": SequenceClassifier(LSTM(INPUTS, UNITS), CLASSES),
        "torch.nn.GRU": Peer(nn.GRU(INPUTS, UNITS, batch_first=True)),
        "GRU": SequenceClassifier(GRU(INPUTS, UNITS), CLASSES),
    }
    for kind in CELLS.values():
        if kind not in (LSTM, GRU):
            networks[kind.__name__] = SequenceClassifier(kind(INPUTS, UNITS), CLASSES)

    def step(model: nn.Module) -> Call:
        def call() -> None:
            model.zero_grad(set_to_none=True)
            F.cross_entropy(model(x), y).backward()

        return call

    return {name: step(model) for name, model in networks.items()}


def indexing_loop(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """The recurrence with a slice taken at every step."""
    states = []
    for t in range(b.shape[1]):
        h = a[:, t] * h + b[:, t]
        states.append(h)
    return torch.stack(states, 1)


def recurrence(function: Callable[..., Tensor], shape: tuple[int, ...], dtype: torch.dtype) -> Call:
    """Forward and backward; a lies in the unit disc."""
    a = torch.rand(shape)
    if dtype.is_complex:
        a = torch.polar(a, 2 * math.pi * torch.rand(shape))
    a, b = a.requires_grad_(), torch.randn(shape, dtype=dtype, requires_grad=True)
    h, gradient = torch.zeros_like(b[:, 0]), torch.randn(shape, dtype=dtype)

    def call() -> None:
        a.grad = b.grad = None
        function(a, b, h).backward(gradient)

    return call


def scans() -> dict[str, Call]:
    """The scan beside both loops, real and complex."""
    ways = {"scan": scan, "loop over slices": loop, "loop by index": indexing_loop}
    return {
        f"{way}, {kind}": recurrence(function, SHAPE, dtype)
        for kind, dtype in (("real", torch.float32), ("complex", torch.complex64))
        for way, function in ways.items()
    }


def lengths() -> dict[str, Call]:
    """The scan of one sequence of 64 units, and of 16."""
    return {
        f"({batch}, {length}, 64)": recurrence(scan, (batch, length, 64), torch.float32)
        for batch in (1, 16)
        for length in LENGTHS
        if batch * length <= max(LENGTHS)
    }


def best_of(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """Milliseconds of the best round, the contestants taking turns; the first round warms up."""
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    best = dict.fromkeys(calls, math.inf)
    for number in range(rounds + 1):
        for name, call in calls.items():
            began = clock()
            call()
            took = 1000 * (clock() - began)
            if number:
                best[name] = min(best[name], took)
    return best


def rows(best: dict[str, float], peers: Callable[[str], str]) -> list[dict[str, Any]]:
    """Every contestant with its time as a multiple of its peer's."""
    found = []
    for name, took in best.items():
        peer = peers(name)
        row = {"name": name, "ms": round(took, 2), "peer": peer}
        row["ratio"] = round(took / best[peer], 3)
        found.append(row)
        print(f"{name:<28}{took:10.2f} ms{row['ratio']:9.3f} × {peer}", file=sys.stderr)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/speed/recurrent.json"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)  # as the engine does
    keep_freed_memory(KEPT_BYTES)
    torch.manual_seed(0)
    trained = best_of(classifiers(), options.rounds)
    scanned = best_of(scans(), max(3, options.rounds // 4))
    by_length = best_of(lengths(), max(3, options.rounds // 2))
    result = {
        "benchmark": "milliseconds of forward and backward, the best of the rounds",
        "clock": "processor" if options.threads == 1 else "wall",
        "command": "python benchmarks/recurrent.py",
        "date": str(date.today()),
        "rounds": options.rounds,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "classifier": {
            "name": f"{STEPS} steps of {INPUTS} inputs, batch {BATCH}, {UNITS} units",
            "rows": rows(trained, lambda name: "torch.nn.LSTM"),
        },
        "scan": {
            "name": f"{SHAPE}, forward and backward",
            "rows": rows(scanned, lambda name: "scan, " + name.rpartition(", ")[2]),
        },
        "scan_by_length": {
            "name": "microseconds per step, forward and backward",
            "rows": [
                {"shape": name, "ms": round(took, 2), "us_per_step": round(1000 * took / length, 2)}
                for (name, took), length in zip(by_length.items(), steps_of(by_length), strict=True)
            ],
        },
    }
    for row in result["scan_by_length"]["rows"]:
        print(f"{row['shape']:<28}{row['ms']:10.2f} ms{row['us_per_step']:9.2f} µs a step")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    keep_freed_memory(GLIBC_MOST)


def steps_of(shapes: dict[str, float]) -> list[int]:
    """The middle number of each shape."""
    return [int(shape.split(", ")[1]) for shape in shapes]


if __name__ == "__main__":
    main()

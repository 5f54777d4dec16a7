"""The parts of a training step that we do otherwise than torch, beside torch's own."""

import json
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from chainrule.learning.fused_adam import FusedAdam
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.dropout import dropout


def microseconds(*calls: Callable[[], object], repeats: int = 50, number: int = 100) -> list[float]:
    """Best mean of `number` calls, the contestants taking turns."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            began = time.perf_counter()
            for _ in range(number):
                call()
            best[place] = min(best[place], (time.perf_counter() - began) / number)
    return [round(1e6 * value, 1) for value in best]


def adam_steps() -> list[Callable[[], object]]:
    """A step of Adam for the 235,146 weights of the MNIST network."""
    steps: list[Callable[[], object]] = []
    for kind, options in ((torch.optim.Adam, {"fused": True}), (FusedAdam, {})):
        model: nn.Module = MLP(784, [256, 128], 10)
        for p in model.parameters():
            p.grad = torch.randn_like(p)
        steps.append(kind(model.parameters(), lr=1e-3, **options).step)
    return steps


def dropouts() -> list[Callable[[], object]]:
    """Dropout of a batch of 128 through 256 units."""
    h = torch.randn(128, 256)
    return [lambda: F.dropout(h, 0.4), lambda: dropout(h, 0.4, training=True)]


def main() -> None:
    rows = []
    for name, calls in (
        ("Adam, 784-256-128-10", adam_steps()),
        ("dropout, 128 × 256", dropouts()),
    ):
        torchs, ours = microseconds(*calls)
        rows.append({"name": name, "torch": torchs, "chainrule": ours})
        print(f"{name:<24} torch {torchs:7.1f} µs   chainrule {ours:7.1f} µs")
    result = {
        "command": "python benchmarks/parts.py",
        "date": str(date.today()),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "torch": torch.__version__,
        "rows": rows,
    }
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    Path("benchmarks/speed/parts.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()

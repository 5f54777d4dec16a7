"""Contenders that train a classifier epoch by epoch: this library, PyTorch, and its trainers.

A row says data, networks and batch; everything else is in `loops` and `trainers`, once:
cross-entropy, Adam, every example once an epoch in a new order. The network and its optimizer live
on from unit to unit.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch.nn.functional as F

from benchmarks.suite import loops, trainers
from benchmarks.suite.classifier import Classifier
from benchmarks.suite.contract import Contender, Ready, Work

Build = Callable[..., Classifier]


def contenders(build: Build, without: tuple[str, ...] = ()) -> dict[str, Contender]:
    """All of them on one kind of work, but those whose name has one of these words."""

    def entered(way: Callable[[Classifier], Ready], *needs: str, **environment: str) -> Contender:
        return Contender(lambda **sizes: way(build(**sizes)), needs, environment)

    found = {
        "chainrule": entered(loops.engine),
        "chainrule, auto precision": replace(entered(loops.auto), precision="bfloat16"),
        "hand-tuned PyTorch": entered(loops.hand_tuned),
        "hand-tuned, oneDNN": entered(loops.onednn),
        "hand-tuned, autocast": replace(entered(loops.autocast), precision="bfloat16"),
        "torch.compile": entered(loops.compiled),
        "PyTorch with DataLoader": entered(loops.data_loader),
        "Lightning": entered(trainers.lightning, "lightning"),
        "skorch": entered(trainers.skorch, "skorch"),
        "fastai": entered(trainers.fastai, "fastai"),
        "Keras on torch": entered(trainers.keras, "keras", KERAS_BACKEND="torch"),
        "Keras on JAX": entered(trainers.keras, "keras", "jax", KERAS_BACKEND="jax"),
    }
    return {name: each for name, each in found.items() if not any(word in name for word in without)}


def work(build: Build) -> Callable[..., Work]:
    """Operations of an epoch as PyTorch counts them; bytes of the examples and of the optimizer."""

    def counted(**sizes: Any) -> Work:
        from torch.utils.flop_counter import FlopCounterMode

        given = build(**sizes)
        model, examples = given.plain(), given.count
        sample = min(given.batch, examples)
        with FlopCounterMode(display=False) as counter:
            F.cross_entropy(model(given.data.x[:sample]), given.data.y[:sample]).backward()
        read = given.timed.data.x.numel() * 4
        return Work(counter.get_total_flops() * examples / sample, read, examples, "examples")

    return counted

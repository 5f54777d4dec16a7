"""Shared by the memory tasks: one network for every cell and length, and where each cell fails.

The networks are trained one after another, each for `epochs` or until it has solved its task on the
validation split; every epoch leaves a record. The table and the picture show the test split. All
have the same width and the same epochs, not the same number of weights; linear recurrences have an
MLP behind them. So a cell that fails is one that has not learned the task by then.
"""

from abc import abstractmethod
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.tasks import Objective
from chainrule.models.recurrent.layers import kind, network
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.runs.recipe import SPLITS, Experiment, Facts, Figures, Record, Task, arrays
from chainrule.training import Progress, Settings, evaluate, fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sets = dict[int, Splits]
"""The splits for every length."""


@dataclass(frozen=True, kw_only=True)
class ByLength(Settings, Experiment[nn.ModuleDict, Sets]):
    """Cells × lengths; a task says its data, its answers, and when it is solved."""

    metric: ClassVar[str]
    guessing: ClassVar[float]
    solved: ClassVar[float]

    cells: tuple[str, ...] = ("elman", "lstm", "gru", "mingru", "lru")
    """Which to compare: also minlstm, antisymmetric, lipschitz, state-space, selective, …"""
    lengths: tuple[int, ...] = (10, 30, 100)
    """Steps, from easy to hard."""
    width: int = 64
    """Units of every layer."""
    depth: int = 1
    """Layers; linear recurrences stand in residual blocks with an MLP."""
    number: int = 5_000
    """Sequences of every length: 80 % to learn from, 10 % to validate, 10 % to test."""
    batch_size: int = 64
    clip: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for cell in self.cells:
            kind(cell)
        if not self.cells or not self.lengths or min(self.width, self.depth) < 1:
            raise InputError("expected a cell, a length, a width and a depth of 1 or more")

    @abstractmethod
    def load(self, length: int) -> Splits:
        """The task at one length."""

    @abstractmethod
    def answering(self, layer: Recurrent, outputs: int) -> nn.Module:
        """The layer with what turns its outputs into answers."""

    @abstractmethod
    def objective(self) -> Objective:
        """What is minimized, and `metric`."""

    def data(self, folder: Path | None) -> Sets:
        return {length: self.load(length) for length in self.lengths}

    def facts(self, data: Sets) -> Facts:
        first = data[self.lengths[0]]
        examples = {split: len(getattr(first, split).x) for split in SPLITS}
        steps, inputs = first.train.x.shape[1:]
        return Facts(Task((steps, inputs), first.classes), examples)

    def model(self, task: Task) -> nn.ModuleDict:
        """All networks; those of a cell begin with the same weights, whatever the length."""
        networks = nn.ModuleDict()
        for cell, length in self.grid():
            torch.manual_seed(self.seed)
            layer = network(cell, task.shape[1], self.width, self.depth)
            networks[name(cell, length)] = self.answering(layer, task.outputs)
        return networks

    def grid(self) -> list[tuple[str, int]]:
        """Every cell at every length."""
        return [(cell, length) for length in self.lengths for cell in self.cells]

    def learn(
        self, model: nn.ModuleDict, data: Sets, folder: Path | None, device: str
    ) -> Generator[Progress]:
        total = len(self.grid()) * self.epochs
        for place, (cell, length) in enumerate(self.grid()):
            own = None if folder is None else folder / name(cell, length)
            train, validation = arrays(data[length].train), arrays(data[length].validation)
            last = place == len(self.grid()) - 1
            steps = fit(
                model[name(cell, length)], train, validation, self, self.objective(), own, device
            )
            with closing(steps):
                for now in steps:
                    done = self.is_solved(now.record)
                    yield replace(
                        now,
                        epoch=place * self.epochs + now.epoch,
                        epochs=total,
                        record=now.record and {**now.record, "network": place, "length": length},
                        stopped="all networks trained" if last and (done or now.stopped) else "",
                    )
                    if done:
                        break

    def is_solved(self, record: Mapping[str, int | float] | None) -> bool:
        return record is not None and record[f"validation_{self.metric}"] <= self.solved

    def measure(self, model: nn.ModuleDict, data: Sets) -> Figures:
        """The mean over all networks, and how many have solved their task."""
        found = list(self.tested(model, data).values())
        share = fmean(value <= self.solved for value in found)
        return {"test": {self.metric: fmean(found), "share solved": share}}

    def tested(self, model: nn.ModuleDict, data: Sets) -> dict[tuple[str, int], float]:
        """The metric of every network on its test split."""
        return {
            (cell, length): evaluate(
                model[name(cell, length)], arrays(data[length].test), self.objective()
            )[self.metric]
            for cell, length in self.grid()
        }

    def compare_model(self, model: nn.ModuleDict, data: Sets) -> dict[str, Figures]:
        found = self.tested(model, data)
        return {
            cell: {"test": {f"length {n}: {self.metric}": found[cell, n] for n in self.lengths}}
            for cell in self.cells
        }

    def pictures(self, model: nn.ModuleDict, data: Sets) -> "dict[str, Figure]":
        from chainrule.console.output import figure
        from chainrule.plots.memory import metric_by_length

        found = self.tested(model, data)
        lines = {cell: [found[cell, length] for length in self.lengths] for cell in self.cells}
        return {
            "by-length": metric_by_length(self.lengths, lines, self.metric, self.guessing, figure)
        }

    def curves(self, history: list[Record]) -> "Figure":
        from chainrule.console.output import figure
        from chainrule.plots.memory import learning_curves_by_length

        panels: dict[int, dict[str, list[float]]] = {}
        for record in history:
            cell, length = self.grid()[int(record["network"])]
            course = panels.setdefault(length, {}).setdefault(cell, [])
            course.append(float(record[f"validation_{self.metric}"]))
        return learning_curves_by_length(panels, self.metric, self.guessing, figure)


def name(cell: str, length: int) -> str:
    """As a part of the model: elman-50."""
    return f"{cell}-{length}"

"""Shared by the memory tasks: one network for every cell and sequence length.

The networks are trained one after another, each for `epochs` or until it solves its task on the
validation split; every epoch has a record. Table and figure show the test split. All networks have
the same width and number of epochs, not of parameters; linear recurrences are followed by an MLP.
So a cell that fails has not learned the task within these epochs.
"""

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import nn

from chainrule.data.splits import Splits
from chainrule.errors import InputError
from chainrule.learning.metrics import Metric, format_metric
from chainrule.learning.tasks import Task
from chainrule.models.recurrent.layers import cell_class, recurrent_network
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.recipes.families.in_turn import Turn, in_turn
from chainrule.runs.recipe import EVERYTHING, SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Progress, Record, Settings, evaluate, iterate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Sets = dict[int, Splits]
"""The splits for every length."""


@dataclass(frozen=True, kw_only=True)
class MemoryTaskRecipe(BaseRecipe):
    """Cells × lengths; the recipe defines data, head, metric, and when the task is solved."""

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        (*EVERYTHING, "predict"), "it trains one network for every cell and length"
    ) | dict.fromkeys(("class_weights", "label_smoothing"), "its targets are not one class each")
    metric: ClassVar[Metric]
    chance: ClassVar[float]
    solved: ClassVar[float]
    rate_shares: ClassVar[Mapping[str, float]] = {}

    cells: tuple[str, ...] = ("elman", "lstm", "gru", "mingru", "lru")
    """Cells to compare; also minlstm, antisymmetric, lipschitz, state-space, selective, …"""
    lengths: tuple[int, ...] = (10, 30, 100)
    """Sequence lengths, in increasing order."""
    hidden_size: int = 64
    """Hidden units of each layer."""
    num_layers: int = 1
    """Number of layers; linear recurrences are residual blocks with an MLP."""
    num_samples: int = 5_000
    """Sequences of every length: 80 % for training, 10 % for validation, 10 % for the test."""
    settings: Settings = Settings(batch_size=64, clip_norm=1.0)

    def __post_init__(self) -> None:
        for cell in self.cells:
            cell_class(cell)
        if not self.cells or not self.lengths or min(self.hidden_size, self.num_layers) < 1:
            raise InputError(
                "expected at least one of `cells` and `lengths`, a `hidden_size` and `num_layers` "
                "of 1 or more"
            )

    @abstractmethod
    def load(self, length: int) -> Splits:
        """The task at one length."""

    @abstractmethod
    def with_head(self, layer: Recurrent, outputs: int) -> nn.Module:
        """The recurrent layer with an output layer."""

    def settings_of(self, cell: str) -> Settings:
        """The settings of all cells, with a cell's own share of the learning rate."""
        rate = self.settings.learning_rate * self.rate_shares.get(cell, 1.0)
        return replace(self.settings, learning_rate=rate)

    def prepare(self, layer: Recurrent, length: int) -> None:
        """Change the initial weights of a layer to suit a length; as they are by default."""

    @abstractmethod
    def task(self, data: Any = None) -> Task:
        """What is minimized, and `metric`."""

    def data(self, folder: Path | None) -> Sets:
        return {length: self.load(length) for length in self.lengths}

    def summarize(self, data: Sets) -> DataSummary:
        first = data[self.lengths[0]]
        examples = {split: len(getattr(first, split).x) for split in SPLITS}
        steps, inputs = first.train.x.shape[1:]
        return DataSummary((steps, inputs), first.classes, examples=examples)

    def model(self, summary: DataSummary) -> nn.ModuleDict:
        """All networks; those of one cell have the same initial weights up to `prepare`."""
        networks = nn.ModuleDict()
        for cell, length in self.grid():
            torch.manual_seed(self.seed)
            layer = recurrent_network(cell, summary.shape[1], self.hidden_size, self.num_layers)
            self.prepare(layer, length)
            networks[name(cell, length)] = self.with_head(layer, summary.outputs)
        return networks

    def grid(self) -> list[tuple[str, int]]:
        """Every cell at every length."""
        return [(cell, length) for length in self.lengths for cell in self.cells]

    def fit(
        self, model: nn.ModuleDict, data: Sets, folder: Path | None, device: str
    ) -> Generator[Progress]:
        def turn(cell: str, length: int) -> Turn:
            start = partial(
                iterate,
                model[name(cell, length)],
                data[length],
                task=self.task(),
                settings=self.settings_of(cell),
                folder=folder and folder / name(cell, length),
                device=device,
            )
            return Turn(start, self.settings.epochs, {"length": length})

        return in_turn([turn(*each) for each in self.grid()], self.is_solved)

    def is_solved(self, record: Mapping[str, int | float] | None) -> bool:
        return record is not None and record[f"validation_{self.metric.name}"] <= self.solved

    def evaluate(self, predictions: Predictions) -> Metrics:
        """The mean over all networks, and the share that solved their task."""
        found = list(self.tested(predictions).values())
        share = fmean(value <= self.solved for value in found)
        return {"test": {self.metric.name: fmean(found), "share solved": share}}

    def tested(self, predictions: Predictions) -> dict[tuple[str, int], float]:
        """The metric of every network on its test split."""
        model, data = predictions.model, predictions.data
        assert isinstance(model, nn.ModuleDict)
        return predictions.once(
            "tested",
            lambda: {
                (cell, length): evaluate(
                    model[name(cell, length)], tuple(data[length].test), self.task()
                )[self.metric.name]
                for cell, length in self.grid()
            },
        )

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        found, metric = self.tested(predictions), self.metric.name
        return {
            cell: {"test": {f"length {n}: {metric}": found[cell, n] for n in self.lengths}}
            for cell in self.cells
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.memory import metric_by_length

        found = self.tested(predictions)
        lines = {cell: [found[cell, length] for length in self.lengths] for cell in self.cells}
        drawn = metric_by_length(self.lengths, lines, self.metric.name, self.chance, format_metric)
        return {"by-length": drawn}

    def curves(self, history: Sequence[Record]) -> "Figure":
        from chainrule.plots.memory import learning_curves_by_length

        panels: dict[int, dict[str, list[float]]] = {}
        for record in history:
            cell, length = self.grid()[int(record["network"])]
            course = panels.setdefault(length, {}).setdefault(cell, [])
            course.append(float(record[f"validation_{self.metric.name}"]))
        metric = self.metric.name
        return learning_curves_by_length(panels, metric, self.chance, format_metric)


def name(cell: str, length: int) -> str:
    """As a part of the model: elman-50."""
    return f"{cell}-{length}"

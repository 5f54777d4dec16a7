"""The interface of a batch source."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import Task
from chainrule.training.settings import Settings

Arrays = tuple[Tensor, ...]
Carried = dict[str, Tensor]


class Batch(NamedTuple):
    """Inputs of the model, targets of its outputs, and the number of examples."""

    inputs: Arrays
    targets: Arrays
    size: int


S = TypeVar("S", bound="BatchSource")


def shared(source: S, rank: int, ranks: int) -> S:
    """The same source as one of several processes reads it."""
    found = copy.copy(source)
    found.rank, found.ranks = rank, ranks
    return found


class BatchSource(ABC):
    """Where the batches of a run come from.

    Batch t of epoch e is a function of (seed, e, t), so that a resumed run repeats it.
    """

    unsupported: Mapping[str, str] = {}
    """Settings that make no sense for these batches, and why."""
    whole: bool = False
    """Whether every batch holds all examples."""
    rank: int = 0
    ranks: int = 1
    """The number of this process, where several share every batch, and how many do."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of examples, or of tokens of a text."""

    @abstractmethod
    def steps(self, settings: Settings) -> int:
        """Updates in one epoch."""

    @abstractmethod
    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        """The batches of one epoch, as a function of the step."""

    @abstractmethod
    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        """Loss and metrics of all examples."""

    @abstractmethod
    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        """Refuse what cannot work, in one sentence, before the first step."""

    def share(self, rank: int, ranks: int) -> "BatchSource | None":
        """The source of one of several processes, which reads its own rows of each batch only.

        None where rows cannot be read apart. The size of a batch stays that of the whole one.
        """
        return None

    def sample(self, settings: Settings) -> Arrays:
        """Some examples, by which several processes see whether they have the same."""
        batch = self.epoch(settings, 0)(0)
        return (*batch.inputs, *batch.targets)

    def own(self, rows: Tensor) -> Tensor:
        """The rows of a batch that this process reads; the first stands in for none."""
        start, stop = (r * len(rows) // self.ranks for r in (self.rank, self.rank + 1))
        return rows[start:stop] if stop > start else rows[:1]

    def prepared(self, task: Task, device: torch.device, training: bool) -> "BatchSource":
        """The source with its targets in the form of the task and its data on the device."""
        return self

    def forward(
        self, model: Callable[..., Any], inputs: Arrays, carried: Carried
    ) -> tuple[Any, Carried]:
        """The model's output, and what the next step needs besides the weights."""
        return model(*inputs), {}

    def describe(self) -> dict[str, Any]:
        """Properties that a resumed run must share."""
        return {"examples": len(self)}

    def work(self, settings: Settings) -> int:
        """Rows per step that are multiplied with the weights; it decides the number of threads."""
        return settings.batch_size

    def rows(self, settings: Settings, model: nn.Module) -> int:
        """Rows of a step's matrix products: those of `work`, times the places of an example."""
        return self.work(settings)


def chunks(batch: Batch, number: int) -> list[Batch]:
    """A batch in this many parts."""
    inputs = zip(*(t.chunk(number) for t in batch.inputs), strict=True)
    targets = zip(*(t.chunk(number) for t in batch.targets), strict=True)
    return [Batch(i, t, len(i[0])) for i, t in zip(inputs, targets, strict=True)]

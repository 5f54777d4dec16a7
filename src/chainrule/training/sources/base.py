"""The interface of a batch source."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

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


class BatchSource(ABC):
    """Where the batches of a run come from.

    Batch t of epoch e is a function of (seed, e, t), so that a resumed run repeats it.
    """

    unsupported: Mapping[str, str] = {}
    """Settings that make no sense for these batches, and why."""
    whole: bool = False
    """Whether every batch holds all examples."""

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

    def prepared(self, task: Task, device: torch.device, training: bool) -> "BatchSource":
        """The source with its targets in the form of the task and its data on the device."""
        return self

    def forward(
        self, model: Callable[..., Any], inputs: Arrays, carried: Carried
    ) -> tuple[Tensor, Carried]:
        """The model's output, and what the next step needs besides the weights."""
        return model(*inputs), {}

    def describe(self) -> dict[str, Any]:
        """Properties that a resumed run must share."""
        return {"examples": len(self)}

    def work(self, settings: Settings) -> int:
        """Rows per step that are multiplied with the weights; it decides the number of threads."""
        return settings.batch_size

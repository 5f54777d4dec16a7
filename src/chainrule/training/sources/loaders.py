"""torch's own ways to hold data: a `Dataset`, a `DataLoader`."""

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, default_collate

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training.checks import check_batches, check_model, check_split
from chainrule.training.evaluation import evaluation_mode, measured
from chainrule.training.randomness import mix, permutation
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, BatchSource


class CollatedSource(BatchSource):
    """Batches that come as tuples of tensors: inputs first, then targets."""

    def __init__(self, inputs: int = 1):
        self.inputs = inputs
        self.task: Task | None = None

    def all(self) -> Iterator[Arrays]:
        """Everything once, in its own order, for evaluation."""
        raise NotImplementedError

    def as_batch(self, collated: Any) -> Batch:
        """A tuple of tensors as a batch, its targets in the form of the task."""
        if not (isinstance(collated, list | tuple) and all(map(torch.is_tensor, collated))):
            raise InputError(
                f"expected batches that are tuples of tensors (input …, target), got "
                f"{type(collated).__name__}; return such tuples from the data set"
            )
        arrays = self.task.targets(tuple(collated)) if self.task else tuple(collated)
        return Batch(arrays[: self.inputs], arrays[self.inputs :], len(arrays[0]))

    def prepared(self, task: Task, device: torch.device, training: bool) -> "BatchSource":
        self.task = task
        return self

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        device = next((p.device for p in model.parameters()), torch.device("cpu"))
        outputs: list[Tensor] = []
        targets: list[Arrays] = []
        with evaluation_mode(model):
            for collated in self.all():
                batch = self.as_batch(collated)
                outputs.append(model(*(t.to(device) for t in batch.inputs)).float().cpu())
                targets.append(batch.targets)
        every = tuple(torch.cat(parts) for parts in zip(*targets, strict=True))
        return measured(torch.cat(outputs), every, task)

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        self.task = task
        first = next(self.all(), None)
        if first is None:
            raise InputError(f"the {name} data is empty; expected at least one batch")
        batch = self.as_batch(first)
        arrays = (*batch.inputs, *batch.targets)
        check_split(arrays, self.inputs, name)
        check_model(model, task.minimized, arrays, self.inputs, name)
        if name == "training":
            check_batches(model, len(self), settings)


class DatasetSource(CollatedSource):
    """A map-style `torch.utils.data.Dataset`, shuffled by (seed, epoch).

    Args:
        dataset: with `__len__` and `__getitem__`, giving (input …, target).
        inputs: how many tensors of an item are inputs.
    """

    def __init__(self, dataset: Dataset[Any], inputs: int = 1):
        super().__init__(inputs)
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)  # type: ignore[arg-type]

    def steps(self, settings: Settings) -> int:
        return math.ceil(len(self) / settings.batch_size)

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        rows = permutation(len(self), settings.seed, epoch).split(settings.batch_size)
        return lambda step: self.as_batch(self.collate(rows[step].tolist()))

    def collate(self, rows: list[int]) -> Any:
        return default_collate([self.dataset[row] for row in rows])

    def all(self) -> Iterator[Arrays]:
        for rows in torch.arange(len(self)).split(1024):
            yield self.collate(rows.tolist())


class LoaderSource(CollatedSource):
    """A `torch.utils.data.DataLoader`, which decides the size and the order of its batches.

    A loader that shuffles with torch's generator gets a seed for every epoch. A resumed run reads
    the batches behind it again and skips them.
    """

    unsupported: Mapping[str, str] = MappingProxyType(
        {"sampling": "the DataLoader samples its batches itself"}
    )

    def __init__(self, loader: DataLoader[Any], inputs: int = 1):
        super().__init__(inputs)
        self.loader = loader

    def __len__(self) -> int:
        return len(self.loader.dataset)  # type: ignore[arg-type]

    def steps(self, settings: Settings) -> int:
        try:
            return len(self.loader)
        except TypeError:
            raise InputError(
                "expected a DataLoader of known length; an IterableDataset needs a `__len__`"
            ) from None

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        place, batches = 0, iter(())
        started = False

        def batch(step: int) -> Batch:
            nonlocal place, batches, started
            if not started or step != place:
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(mix(settings.seed, epoch))
                    batches = islice(iter(self.loader), step, None)
                place, started = step, True
            place += 1
            return self.as_batch(next(batches))

        return batch

    def all(self) -> Iterator[Arrays]:
        with torch.random.fork_rng(devices=[]):
            yield from self.loader

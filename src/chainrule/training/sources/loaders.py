"""Batches from a torch `Dataset` or `DataLoader`."""

import copy
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, default_collate

from chainrule.children import die_with_parent_process
from chainrule.errors import InputError
from chainrule.learning.tasks import Task, unchanged
from chainrule.training.checks import (
    check_batches,
    check_label_settings,
    check_learnable,
    check_model,
    check_split,
)
from chainrule.training.evaluation import (
    as_float,
    each,
    evaluation_mode,
    joined,
    measured,
    on_cpu,
)
from chainrule.training.randomness import GENERATOR, mix, permutation, with_replacement
from chainrule.training.settings import Settings
from chainrule.training.sources.base import Arrays, Batch, BatchSource


class CollatedSource(BatchSource):
    """Batches that come as tuples of tensors: inputs first, then targets."""

    task: Task

    def __init__(self, inputs: int = 1):
        self.inputs = inputs

    @abstractmethod
    def all(self) -> Iterator[Arrays]:
        """All batches once, for evaluation."""

    def as_batch(self, collated: Any, task: Task) -> Batch:
        """A tuple of tensors as a batch, its targets in the form of the task."""
        collated = flattened(collated) if isinstance(collated, list | tuple) else collated
        if not (isinstance(collated, list | tuple) and all(map(torch.is_tensor, collated))):
            raise InputError(
                f"expected batches that are tuples of tensors (input …, target), got "
                f"{type(collated).__name__}; return such tuples from the data set"
            )
        arrays = task.targets(tuple(collated))
        return Batch(arrays[: self.inputs], arrays[self.inputs :], len(arrays[0]))

    def prepared(self, task: Task, device: torch.device, training: bool) -> "BatchSource":
        prepared = copy.copy(self)
        prepared.task = task
        return prepared

    def evaluate(self, model: nn.Module, task: Task) -> dict[str, float]:
        device = next((p.device for p in model.parameters()), torch.device("cpu"))

        def answered(collated: Any) -> tuple[Any, Arrays]:
            batch = self.as_batch(collated, task)
            output = on_cpu(as_float(model(*(t.to(device) for t in batch.inputs))))
            return output, batch.targets

        with evaluation_mode(model):
            outputs, targets = zip(*each(answered, self.all()), strict=True)
        every = tuple(torch.cat(parts) for parts in zip(*targets, strict=True))
        return measured(joined(outputs), every, task)

    def check(self, model: nn.Module, task: Task, settings: Settings, name: str) -> None:
        first = next(self.all(), None)
        if first is None:
            raise InputError(f"the {name} data is empty; expected at least one batch")
        batch = self.as_batch(first, task)
        arrays = (*batch.inputs, *batch.targets)
        check_split(arrays, self.inputs, name)
        loss = task.minimized if name == "training" else task.loss
        compared = task.target is not unchanged
        output, losses = check_model(model, loss, arrays, self.inputs, name, compared)
        if name == "training":
            check_label_settings(settings, output, losses, arrays[self.inputs])
            self.check_sizes(model, settings)

    def sample(self, settings: Settings) -> Arrays:
        batch = self.as_batch(next(self.all()), self.task)
        return (*batch.inputs, *batch.targets)

    def check_sizes(self, model: nn.Module, settings: Settings) -> None:
        """Refuse batches that the model cannot learn from."""
        check_batches(model, len(self), settings.batch_size)


class DatasetSource(CollatedSource):
    """A map-style `torch.utils.data.Dataset`, in an order that follows from (seed, epoch).

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
        draw = permutation if settings.sampling == "shuffle" else with_replacement
        rows = draw(len(self), settings.seed, epoch).split(settings.batch_size)
        return lambda step: self.as_batch(self.collate(rows[step].tolist()), self.task)

    def collate(self, rows: list[int]) -> Any:
        return default_collate([self.dataset[row] for row in rows])

    def all(self) -> Iterator[Arrays]:
        for rows in torch.arange(len(self)).split(1024):
            yield self.collate(rows.tolist())


class LoaderSource(CollatedSource):
    """A `torch.utils.data.DataLoader`, which decides the size and the order of its batches.

    Its random numbers follow from (seed, epoch), those of its own `generator` too. A resumed run
    reads the batches it has already seen once more and skips them.
    """

    unsupported: Mapping[str, str] = dict.fromkeys(
        ("batch_size", "sampling"), "the DataLoader makes the batches"
    )

    def __init__(self, loader: DataLoader[Any], inputs: int = 1):
        super().__init__(inputs)
        if not hasattr(loader.dataset, "__len__"):
            raise InputError(
                "expected data of known length, from which the steps of an epoch follow; the "
                "IterableDataset needs a `__len__`"
            )
        self.loader = loader

    def __len__(self) -> int:
        return len(self.loader.dataset)  # type: ignore[arg-type]

    def steps(self, settings: Settings) -> int:
        return len(self.loader)

    def describe(self) -> dict[str, Any]:
        """Size, number and order of the batches: those of another loader are not resumed with."""
        sampler = self.loader.batch_sampler
        return super().describe() | {
            "loader_batch_size": getattr(sampler, "batch_size", self.loader.batch_size),
            "loader_batches": len(self.loader),
            "loader_sampler": type(self.loader.sampler).__name__,
        }

    def epoch(self, settings: Settings, epoch: int) -> Callable[[int], Batch]:
        following, batches = -1, iter(())

        def batch(step: int) -> Batch:
            nonlocal following, batches
            if step != following:
                batches = islice(seeded(self.loader, mix(settings.seed, epoch)), step, None)
            following = step + 1
            found = next(batches, None)
            if found is None:
                raise InputError(
                    f"the data ended after {step} of the {len(self.loader)} batches of an epoch; "
                    "its `__len__` promises more examples than it gives"
                )
            return self.as_batch(found, self.task)

        return batch

    def work(self, settings: Settings) -> int:
        return self.loader.batch_size or settings.batch_size

    def check_sizes(self, model: nn.Module, settings: Settings) -> None:
        size = self.loader.batch_size
        if size is None:  # a batch sampler decides
            check_learnable(model)
        else:
            check_batches(model, size if self.loader.drop_last else len(self), size)

    def all(self) -> Iterator[Arrays]:
        yield from seeded(self.loader, 0)


class IterableSource(LoaderSource):
    """An `IterableDataset` of known length, read in its own order in batches of `batch_size`.

    What it draws from torch's generator follows from (seed, epoch).
    """

    unsupported: Mapping[str, str] = {"sampling": "an IterableDataset has an order of its own"}

    def __init__(self, dataset: Dataset[Any], batch_size: int, inputs: int = 1):
        super().__init__(DataLoader(dataset, batch_size), inputs)


def seeded(loader: DataLoader[Any], seed: int) -> Iterator[Any]:
    """The batches of a loader, whose random numbers come from a stream of their own."""
    state = torch.Generator().manual_seed(seed).get_state()
    if loader.generator is not None:
        loader.generator.manual_seed(seed)
    batches, end = None, object()
    while True:
        with GENERATOR, torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            batches = started(loader) if batches is None else batches
            batch = next(batches, end)
            state = torch.get_rng_state()
        if batch is end:
            return
        yield batch


def started(loader: DataLoader[Any]) -> Iterator[Any]:
    """The batches of a loader whose worker processes end with this one.

    torch's workers compare their parent with the one they first saw, every five seconds. If it had
    died before that first look, they would wait forever.
    """
    own = loader.worker_init_fn
    loader.worker_init_fn = partial(start_worker, own)
    try:
        return iter(loader)
    finally:
        loader.worker_init_fn = own


def start_worker(own: Callable[[int], None] | None, worker: int) -> None:
    """A worker ties itself to its parent first, then does what the user wants."""
    die_with_parent_process()
    if own is not None:
        own(worker)


def flattened(data: tuple[Any, ...] | list[Any]) -> tuple[Any, ...]:
    """((a, b), (y, z)) → (a, b, y, z): several inputs, and targets, may be a tuple of their own.

    Inputs may also be a dictionary; they stand in the order of its names.
    """
    first, rest = (data[0], data[1:]) if data else ((), ())
    targets = [one for part in rest for one in (part if type(part) in (tuple, list) else (part,))]
    if isinstance(first, Mapping):
        return (*(first[name] for name in sorted(first)), *targets)
    return (*first, *targets) if type(first) in (tuple, list) else (*data[:1], *targets)

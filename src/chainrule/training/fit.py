"""The engine's front door: `fit`, `iterate`, `evaluate`, `predict` for any module and any data.

    history = fit(model, data, epochs=5)
    for progress in iterate(model, data, epochs=5): ...

`data` may be splits, a tuple (input …, target) of tensors, a `torch.utils.data.Dataset` or
`DataLoader`, or a batch source.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, default_collate

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.learning.tasks import LANGUAGE_MODELING, Task, task_for
from chainrule.registry import unknown
from chainrule.training import devices
from chainrule.training.checks import check_finite, explained
from chainrule.training.evaluation import outputs
from chainrule.training.loop import run
from chainrule.training.progress import History, Progress
from chainrule.training.settings import Settings
from chainrule.training.sources.base import BatchSource
from chainrule.training.sources.convert import as_source
from chainrule.training.sources.loaders import CollatedSource, LoaderSource, flattened
from chainrule.training.sources.rows import Rows
from chainrule.training.sources.text import TextSource
from chainrule.training.trainer import NetworkTrainer, prepare

Loss = Callable[..., Tensor]
Watch = Callable[[Iterator[Progress]], Iterator[Progress]]


@checked
def iterate(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    task: Task | Loss | None = None,
    settings: Settings | None = None,
    folder: Path | str | None = None,
    device: str = "auto",
    tick: float | None = None,
    **changes: Any,
) -> Generator[Progress]:
    """Train the model in place, yielding progress several times a second and after each epoch.

    Everything is checked before this returns; training begins with the first `next`.

    Args:
        model: any module.
        data: splits, or what to train on.
        validation: what to validate on, unless `data` is splits.
        task: a Task, or a loss (output, target) of your own, which gives one value per example or
            one for the batch; by default what the targets suggest.
        settings: all settings at once.
        folder: where the run is checkpointed, and continued from if there is a checkpoint.
        device: cpu, cuda, mps, or auto for the best one present.
        tick: seconds between two reports inside an epoch, by default a tenth; 0 reports every
            step.
        changes: single settings, such as epochs=5 or learning_rate=1e-2.
    """
    settings = changed(Settings() if settings is None else settings, changes)
    train, validation = parts_of(data, validation)
    task = chosen_task(task, data, train)
    source = as_source(train, settings, task.inputs)
    held = None if validation is None else as_source(validation, settings, task.inputs)
    spec = prepare(model, source, held, settings, task, devices.choose(device))
    return run(NetworkTrainer(model, spec), None if folder is None else Path(folder), tick)


def fit(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    task: Task | Loss | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> History:
    """Train the model in place to the end; returns one record per epoch.

    Args:
        model: any module.
        data: splits, or what to train on.
        validation: what to validate on, unless `data` is splits.
        task: as for `iterate`.
        watch: passes the progress on and shows it, such as a progress bar.
        options: as for `iterate`.
    """
    chosen = chosen_task(task, data, parts_of(data, validation)[0])
    steps: Iterator[Progress] = iterate(model, data, validation, task=chosen, **options)
    reports = [now for now in (watch(steps) if watch else steps) if now.record]
    last = reports[-1]
    records = [now.record for now in reports if now.record]
    return History(records, last.stopped, last.kept, chosen.metrics)


@checked
def evaluate(model: nn.Module, data: Any, task: Task | Loss | None = None) -> dict[str, float]:
    """Loss and every metric of one split.

    Args:
        model: a trained module.
        data: a split, a tuple (input …, target), a Dataset, a DataLoader or a batch source.
        task: as for `iterate`.
    """
    if hasattr(data, "test"):
        raise InputError("expected one split to evaluate, such as data.test, got all of them")
    found = chosen_task(task, data, data)
    source = as_source(data, Settings(), found.inputs)
    source.check(model, found, Settings(), "given")
    return source.evaluate(model, found)


@checked
def predict(model: nn.Module, *inputs: Any, batch_size: Count = 4096) -> Tensor:
    """The model's outputs in evaluation mode, computed batch by batch, on the CPU.

    Args:
        model: a trained module.
        inputs: tensors or arrays, one for each argument of the model, batch first.
        batch_size: examples in one forward pass.
    """
    try:
        tensors = [x if isinstance(x, Tensor) else torch.as_tensor(x) for x in inputs]
    except (TypeError, ValueError, RuntimeError):
        kinds = ", ".join(type(x).__name__ for x in inputs)
        raise InputError(
            f"expected a tensor or an array for each argument of the model, such as data.test.x, "
            f"got {kinds}"
        ) from None
    if not tensors or any(t.ndim == 0 for t in tensors) or len({len(t) for t in tensors}) > 1:
        raise InputError("expected a batch of inputs, equally long, for each argument of the model")
    floats = (p.dtype for p in model.parameters() if p.is_floating_point())
    dtype = next(floats, torch.get_default_dtype())
    tensors = [t.to(dtype) if t.is_floating_point() else t for t in tensors]
    for t in tensors:
        check_finite(t, "inputs")
    with explained(tensors):
        return outputs(model, tuple(tensors), batch_size)


def changed(settings: Settings, changes: dict[str, Any]) -> Settings:
    """The settings with some of them replaced; an unknown name is refused with the nearest."""
    known = [field.name for field in fields(Settings)]
    for name in changes:
        if name not in known:
            raise InputError(unknown("setting", name, known))
    return replace(settings, **changes)


def parts_of(data: Any, validation: Any) -> tuple[Any, Any]:
    """(train, validation) of splits, or as given."""
    if not (hasattr(data, "train") and hasattr(data, "validation")) or isinstance(data, nn.Module):
        return data, validation
    if validation is not None:
        raise InputError("`data` has a validation split already; leave `validation` out")
    return data.train, data.validation if len(data.validation[0]) else None


def chosen_task(task: Task | Loss | None, data: Any, train: Any) -> Task:
    """The given task, a user's loss as a task, or what the targets suggest."""
    if isinstance(task, Task):
        return task
    if task is not None and not callable(task):
        raise InputError(
            "expected `task` as a Task, such as chainrule.learning.tasks.REGRESSION, or a loss "
            f"function, got {task!r}"
        )
    if isinstance(train, TextSource):
        return LANGUAGE_MODELING if task is None else custom_task(task, 1)
    tensors, inputs = sample(train)
    if task is not None:
        return custom_task(task, inputs)
    classes = getattr(data, "classes", None)
    found = task_for(tensors[inputs], None if classes is None else len(classes))
    return found if inputs == 1 else replace(found, inputs=inputs)


def custom_task(loss: Loss, inputs: int) -> Task:
    """A task without metrics around a user's loss."""
    return Task(getattr(loss, "__name__", "custom loss"), loss, inputs=inputs)


def sample(data: Any) -> tuple[tuple[Tensor, ...], int]:
    """Some examples as (input …, target …), and how many of the tensors are inputs."""
    if isinstance(data, Rows):
        return data.arrays, data.inputs
    if isinstance(data, CollatedSource):
        return flattened(next(data.all(), ())), data.inputs
    if isinstance(data, TensorDataset):
        data = data.tensors
    if isinstance(data, DataLoader):
        data = next(LoaderSource(data).all(), ())
    elif isinstance(data, IterableDataset):
        data = as_source(data, Settings())
    elif isinstance(data, Dataset):
        data = default_collate([data[0]])
    elif isinstance(data, BatchSource):
        raise InputError(f"expected a `task` for batches of {type(data).__name__}, got none")
    arrays = flattened(data) if isinstance(data, tuple | list) else ()
    if len(arrays) < 2 or not all(isinstance(t, Tensor) for t in arrays):
        kinds = ", ".join(type(part).__name__ for part in arrays) or type(data).__name__
        raise InputError(
            f"expected splits, tensors (input, target), a Dataset or a DataLoader of them, got "
            f"{kinds}; chainrule.data.arrays(x, y) makes splits from NumPy arrays and frames"
        )
    return arrays, len(arrays) - 1

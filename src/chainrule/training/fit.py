"""The engine's front: `fit`, `iterate`, `evaluate`, `predict` for any module and any data.

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

from chainrule.errors import InputError
from chainrule.learning.tasks import SEGMENTATION, Task, task_for
from chainrule.registry import unknown
from chainrule.training import devices
from chainrule.training.evaluation import outputs
from chainrule.training.loop import run
from chainrule.training.progress import History, Progress
from chainrule.training.settings import Settings
from chainrule.training.sources.base import BatchSource
from chainrule.training.sources.convert import as_source, flattened
from chainrule.training.trainer import NetworkTrainer, prepare

Loss = Callable[..., Tensor]
Watch = Callable[[Iterator[Progress]], Iterator[Progress]]


def iterate(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    task: Task | Loss | None = None,
    settings: Settings | None = None,
    folder: Path | str | None = None,
    device: str = "auto",
    **changes: Any,
) -> Generator[Progress]:
    """Train the model in place, yielding progress several times a second and after each epoch.

    Everything is checked before this returns; training begins with the first `next`.

    Args:
        model: any module.
        data: splits, or what to train on.
        validation: what to validate on, where `data` is no splits.
        task: a Task, or a loss (output, target …) of your own; by default what the targets suggest.
        settings: all settings at once.
        folder: where the run is checkpointed, and continued from if there is a checkpoint.
        device: cpu, cuda, mps, or auto for the best one present.
        changes: single settings, such as epochs=5 or learning_rate=1e-2.
    """
    settings = changed(settings or Settings(), changes)
    train, validation = parts_of(data, validation)
    task = chosen_task(task, data, train)
    source = as_source(train, settings, task.inputs)
    held = None if validation is None else as_source(validation, settings, task.inputs)
    spec = prepare(model, source, held, settings, task, devices.choose(device))
    return run(NetworkTrainer(model, spec), None if folder is None else Path(folder))


def fit(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    watch: Watch | None = None,
    **options: Any,
) -> History:
    """Train the model in place to the end; returns one record per epoch.

    Args:
        model: any module.
        data: splits, or what to train on.
        validation: what to validate on, where `data` is no splits.
        watch: shows the progress that passes through it, such as a bar.
        options: as for `iterate`.
    """
    steps: Iterator[Progress] = iterate(model, data, validation, **options)
    records, stopped = [], ""
    for progress in watch(steps) if watch else steps:
        if progress.record:
            records.append(progress.record)
            stopped = progress.stopped or stopped
    return History(records, stopped)


def evaluate(model: nn.Module, data: Any, task: Task | Loss | None = None) -> dict[str, float]:
    """Loss and every metric of one split.

    Args:
        model: a trained module.
        data: a split, a tuple (input …, target), a Dataset, a DataLoader or a batch source.
        task: as for `iterate`.
    """
    found = chosen_task(task, data, data)
    return as_source(data, Settings(), found.inputs).evaluate(model, found)


def predict(model: nn.Module, *inputs: Any, batch_size: int = 4096) -> Tensor:
    """The model's outputs in evaluation mode, computed batch by batch, on the CPU.

    Args:
        model: a trained module.
        inputs: tensors or arrays, one for each argument of the model, batch first.
        batch_size: examples in one forward pass.
    """
    tensors = tuple(x if isinstance(x, Tensor) else torch.as_tensor(x) for x in inputs)
    if not tensors or any(t.ndim == 0 for t in tensors):
        raise InputError("expected one batch of inputs for each argument of the model")
    return outputs(model, tensors, batch_size)


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
    """The given task, a loss of the user's as a task, or what the targets suggest."""
    if isinstance(task, Task):
        return task
    if task is not None:
        count = len(flattened(train)) - 1 if isinstance(train, tuple | list) else 1
        return Task(getattr(task, "__name__", "your loss"), task, inputs=max(1, count))
    if isinstance(train, tuple | list) and train and isinstance(train[-1], Tensor):
        classes = getattr(data, "classes", None)
        found = task_for(train[-1], None if classes is None else len(classes))
        inputs = max(1, len(flattened(train)) - 1)
        return found if inputs == 1 else replace(found, inputs=inputs)
    if isinstance(train, BatchSource):
        return train_task(train)
    return task_for(sample_target(train))


def train_task(source: BatchSource) -> Task:
    """The usual task of a batch source."""
    from chainrule.learning.tasks import LANGUAGE_MODELING
    from chainrule.training.sources.text import TextSource

    if isinstance(source, TextSource):
        return LANGUAGE_MODELING
    arrays = getattr(source, "arrays", None)
    return task_for(arrays[-1]) if arrays else SEGMENTATION


def sample_target(data: Any) -> Tensor:
    """The target of a first item or batch, with a leading axis of examples."""
    from torch.utils.data import DataLoader

    try:
        if isinstance(data, DataLoader):
            return next(iter(data))[-1]
        return torch.as_tensor(data[0][-1])[None]
    except (TypeError, IndexError, KeyError, StopIteration, RuntimeError) as error:
        raise InputError(
            "cannot see the targets of the data; expected items (input, target), or pass `task`"
        ) from error

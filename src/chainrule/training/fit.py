"""The engine's front door: `fit`, `iterate`, `evaluate`, `predict` for any module and any data.

    history = fit(model, data, epochs=5)
    for progress in iterate(model, data, epochs=5): ...

`data` may be splits, a tuple (input …, target) of tensors, a `torch.utils.data.Dataset` or
`DataLoader`, or a batch source. A dictionary of inputs goes to the arguments of these names.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError, StopTraining
from chainrule.learning.tasks import Task
from chainrule.registry import unknown
from chainrule.training import devices
from chainrule.training.checks import check_finite, explained
from chainrule.training.distributed.group import current
from chainrule.training.evaluation import outputs
from chainrule.training.keywords import KeywordInputs, by_keywords
from chainrule.training.loop import run
from chainrule.training.objective import Loss, chosen_task, parts_of
from chainrule.training.progress import History, Progress
from chainrule.training.settings import Settings
from chainrule.training.sources.convert import as_source
from chainrule.training.trainer import NetworkTrainer, TrainSpec, prepare

Watch = Callable[[Iterator[Progress]], Iterator[Progress]]
Callback = Callable[[Progress], object]


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

    Everything is checked before this returns; training begins with the first `next`. To close the
    generator saves a checkpoint; to throw StopTraining into it ends the run for good.

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

    >>> import chainrule as cr
    >>> reports = iterate(cr.models.MLP(2, [8], 2), cr.data.moons(), epochs=2)
    >>> [progress.epoch for progress in reports if progress.record]
    [1, 2]
    """
    settings = changed(Settings() if settings is None else settings, changes)
    train, validation = parts_of(data, validation)
    task = chosen_task(task, data, train)
    model = by_keywords(model, train)
    source = as_source(train, settings, task.inputs)
    held = None if validation is None else as_source(validation, settings, task.inputs)
    spec = prepare(model, source, held, settings, task, devices.choose(device))
    return run(trainer_for(model, spec), None if folder is None else Path(folder), tick)


def trainer_for(model: nn.Module, spec: TrainSpec) -> NetworkTrainer:
    """The trainer of one process, or of one among several."""
    if (group := current()) is None:
        return NetworkTrainer(model, spec)
    from chainrule.training.distributed.trainer import ParallelTrainer

    if not group.sharded:
        return ParallelTrainer(model, spec, group)
    from chainrule.training.distributed.sharding import ShardedTrainer

    return ShardedTrainer(model, spec, group)


@checked
def fit(
    model: nn.Module,
    data: Any,
    validation: Any = None,
    *,
    task: Task | Loss | None = None,
    callbacks: Sequence[Callback] = (),
    watch: Watch | None = None,
    **options: Any,
) -> History:
    """Train the model in place to the end; returns one record per epoch.

    Args:
        model: any module.
        data: splits, or what to train on.
        validation: what to validate on, unless `data` is splits.
        task: as for `iterate`.
        callbacks: called with the progress at the end of every epoch; one that returns False or
            raises StopTraining ends the run. A resumed run calls them for past epochs first.
        watch: passes the progress on and shows it, such as a progress bar.
        options: as for `iterate`.

    >>> import chainrule as cr
    >>> len(fit(cr.models.MLP(2, [8], 2), cr.data.moons(), epochs=2))
    2
    """
    chosen = chosen_task(task, data, parts_of(data, validation)[0])
    steps = called_back(iterate(model, data, validation, task=chosen, **options), callbacks)
    reports = [now for now in (watch(steps) if watch else steps) if now.record]
    last = reports[-1]
    records = [now.record for now in reports if now.record]
    return History(records, last.stopped, last.kept, chosen.metrics)


def called_back(steps: Generator[Progress], callbacks: Sequence[Callback]) -> Generator[Progress]:
    """Pass the progress on, with a call of every callback at the end of every epoch."""
    for now in steps:
        reasons = [reason for f in callbacks if now.record and (reason := stops(f, now))]
        if reasons and not now.past and not now.stopped:
            with suppress(StopIteration):
                steps.throw(StopTraining(reasons[0]))
            now = replace(now, stopped=reasons[0])
        yield now


def stops(callback: Callback, now: Progress) -> str:
    """Why a callback ends the run; empty if it does not."""
    try:
        goes_on = callback(now) is not False
    except StopTraining as reason:
        return str(reason) or StopTraining.DEFAULT
    return "" if goes_on else StopTraining.DEFAULT


@checked
def evaluate(model: nn.Module, data: Any, task: Task | Loss | None = None) -> dict[str, float]:
    """Loss and every metric of one split.

    Args:
        model: a trained module.
        data: a split, a tuple (input …, target), a Dataset, a DataLoader or a batch source.
        task: as for `iterate`.

    >>> import chainrule as cr
    >>> sorted(evaluate(cr.models.MLP(2, [8], 2), cr.data.moons().test))
    ['accuracy', 'error', 'loss']
    """
    if hasattr(data, "test"):
        raise InputError("expected one split to evaluate, such as data.test, got all of them")
    found = chosen_task(task, data, data)
    model, source = by_keywords(model, data), as_source(data, Settings(), found.inputs)
    source.check(model, found, Settings(), "given")
    return source.evaluate(model, found)


@checked
def predict(model: nn.Module, *inputs: Any, batch_size: Count = 4096) -> Any:
    """The model's outputs in evaluation mode, computed batch by batch, on the CPU.

    Args:
        model: a trained module.
        inputs: tensors or arrays, one for each argument of the model, batch first, or a dictionary
            of them by argument name.
        batch_size: examples in one forward pass.

    >>> import chainrule as cr
    >>> predict(cr.models.MLP(2, [8], 2), cr.data.moons().test.x).shape
    torch.Size([200, 2])
    """
    if len(inputs) == 1 and isinstance(inputs[0], Mapping):
        names = sorted(inputs[0])
        model, inputs = KeywordInputs(model, names), tuple(inputs[0][name] for name in names)
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
    return replace(settings, **changes) if changes else settings

"""What stays the same during one call of `fit`, made and checked before the first step."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Objective
from chainrule.training import devices
from chainrule.training.checks import (
    Arrays,
    check_batches,
    check_model,
    check_monitor,
    check_split,
)
from chainrule.training.settings import Settings


@dataclass(frozen=True)
class Job:
    """What stays the same during one call of `fit`; lengths: those of the training sequences."""

    forward: Callable[..., Tensor]
    train: Arrays
    validation: Arrays | None
    settings: Settings
    objective: Objective
    device: torch.device
    class_weights: Tensor | None
    lengths: Tensor | None = None

    @property
    def steps(self) -> int:
        """Updates in one epoch; the last batch may be smaller."""
        return math.ceil(len(self.train[0]) / self.settings.batch_size)


def prepare(
    model: nn.Module,
    train: Arrays,
    validation: Arrays | None,
    settings: Settings,
    objective: Objective,
    device: torch.device,
) -> Job:
    """Refuse what cannot work, then put model and data in their places."""
    model.to("cpu")
    train = with_long_labels(train, objective.inputs)
    validation = validation and with_long_labels(validation, objective.inputs)
    for name, split, loss in (
        ("training", train, objective.minimized),
        ("validation", validation, objective.loss),
    ):
        if split is not None:
            check_split(split, objective.inputs, name)
            check_model(model, loss, split, objective.inputs, name)
    check_monitor(settings, validation is not None, objective)
    check_batches(model, len(train[0]), settings)
    devices.autocast(device, settings.precision)
    devices.place(model, device)
    weights = (
        balanced(train[objective.inputs]).to(device)
        if settings.class_weights == "balanced"
        else None
    )
    return Job(
        forward=torch.compile(model) if settings.compile else model,
        train=devices.resident(train, device),
        validation=validation,
        settings=settings,
        objective=objective,
        device=device,
        class_weights=weights,
    )


def with_long_labels(arrays: Arrays, inputs: int) -> Arrays:
    """Labels of any integer type as int64, which the losses take."""
    targets = (
        t.long() if isinstance(t, Tensor) and not t.is_floating_point() else t
        for t in arrays[inputs:]
    )
    return (*arrays[:inputs], *targets)


def balanced(y: Tensor) -> Tensor:
    """w_k = N / (K N_k): every class weighs the same in the mean loss."""
    if y.is_floating_point() or y.ndim != 1:
        raise InputError("--class-weights balanced needs one class per example as the target")
    counts = y.bincount().float()
    return counts.sum() / (len(counts) * counts.clamp_min(1))


def origin(settings: Settings, train: Arrays) -> dict[str, object]:
    """What a checkpoint must share with the run that continues it."""
    free = {"checkpoint_seconds", "threads"}
    names = [f.name for f in fields(Settings) if f.name not in free]
    return {name: getattr(settings, name) for name in names} | {"examples": len(train[0])}

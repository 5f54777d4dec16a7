"""Many networks at once: the constants and the state of a run of `fit_many`, and its checks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import torch
from torch import Tensor, nn

from chainrule.errors import InputError, NotBatchableError
from chainrule.learning.augmentation import Augment
from chainrule.learning.tasks import Task
from chainrule.nn.pixels import unit_range
from chainrule.training import devices
from chainrule.training.batched.stack import Dropouts, Stack, check_alike
from chainrule.training.checks import (
    Arrays,
    check_batches,
    check_label_settings,
    check_model,
    check_monitor,
    check_split,
    normalizes_batches,
)
from chainrule.training.class_weights import balanced
from chainrule.training.progress import Progress
from chainrule.training.settings import Settings

OWN = {"seed", "learning_rate", "weight_decay", "label_smoothing"}


@dataclass(frozen=True)
class BatchedProgress(Progress):
    """Progress of all members: `record` holds means, `members` each one's own metrics."""

    members: tuple[dict[str, float], ...] = ()


@dataclass(frozen=True)
class BatchedRun:
    """What stays the same during one call of `fit_many`.

    Members that share their batches are adjacent; `order` holds their original positions.
    """

    order: list[int]
    groups: int
    stack: Stack
    train: Arrays
    rows: list[Tensor]
    held_out: Arrays | list[Arrays] | None
    settings: list[Settings]
    task: Task
    dropouts: Dropouts
    augment: Augment | None = None

    @property
    def common(self) -> Settings:
        return self.settings[0]

    @property
    def members(self) -> int:
        return len(self.settings)

    @cached_property
    def steps(self) -> int:
        """Updates per epoch, the same for all members."""
        return math.ceil(len(self.rows[0]) / self.common.batch_size)

    @cached_property
    def one_rate(self) -> bool:
        """Whether all members have the same learning rate."""
        return len({s.learning_rate for s in self.settings}) == 1

    @cached_property
    def optimized(self) -> tuple[nn.Parameter, ...]:
        """What the optimizer updates: the weights or, where rates differ, steps of rate 1."""
        weights = self.stack.weights
        return weights if self.one_rate else tuple(nn.Parameter(p * 0) for p in weights)

    @cached_property
    def class_weights(self) -> Tensor | None:
        """(K, classes), by the rows that each member learns from."""
        if self.common.class_weights != "balanced":
            return None
        y = self.train[self.task.inputs]
        each = [balanced(y[rows]) for rows in self.rows]
        return nn.utils.rnn.pad_sequence(each, batch_first=True)

    @cached_property
    def rates(self) -> list[Tensor]:
        """Learning rate of every member, shaped to multiply each of the weights."""
        return [per_member(self.own("learning_rate"), p) for p in self.stack.weights]

    @cached_property
    def decays(self) -> list[Tensor] | None:
        """Weight decay of every member in the same shape; None if all are zero."""
        decays = self.own("weight_decay")
        return [per_member(decays, p) for p in self.stack.weights] if decays.any() else None

    @cached_property
    def smoothing(self) -> Tensor | None:
        """Label smoothing of every member; None if all are zero."""
        smoothing = self.own("label_smoothing").to(self.stack.weights[0].dtype)
        return smoothing if smoothing.any() else None

    @cached_property
    def equal_rows(self) -> bool:
        """Whether all members have the same number of rows, so that no batch has gaps."""
        return len({len(rows) for rows in self.rows}) == 1

    @cached_property
    def held_out_inputs(self) -> Tensor:
        """(G, rows, …): the padded validation inputs of a cross-validation, one set per group."""
        held = (
            self.held_out[:: self.members // self.groups] if isinstance(self.held_out, list) else []
        )
        return nn.utils.rnn.pad_sequence([split[0] for split in held], batch_first=True)

    def own(self, name: str) -> Tensor:
        """One setting of every member."""
        return torch.tensor([getattr(s, name) for s in self.settings], dtype=torch.float64)


def per_member(values: Tensor, like: Tensor) -> Tensor:
    """(K,) → (K, 1, …), to multiply a stacked tensor."""
    return values.to(like.dtype).view(-1, *[1] * (like.ndim - 1))


def stack_up(
    models: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays | None,
    settings: Sequence[Settings],
    task: Task,
    folds: Sequence[tuple[Tensor, Tensor]] | None,
    augment: Augment | None,
) -> BatchedRun:
    """Check the members, then stack them."""
    check_alike(models)
    settings = list(settings) or [Settings(seed=k) for k in range(len(models))]
    check_settings(len(models), settings, task)
    devices.check_threads(settings[0].threads)
    for name, split, loss in (
        ("training", train, task.minimized),
        ("validation", validation, task.loss),
    ):
        if split is not None:
            check_split(split, task.inputs, name)
            arrays = task.targets(split)
            output, losses = check_model(models[0], loss, arrays, task.inputs, name)
            for own in settings if name == "training" else ():
                check_label_settings(own, output, losses, arrays[task.inputs])
    train, validation = task.targets(train), validation and task.targets(validation)
    train = (unit_range(train[0]), *train[1:])
    validation = validation and (unit_range(validation[0]), *validation[1:])
    if validation is not None and folds is not None:
        raise InputError("`folds` hold out rows of their own; leave `validation` out")
    held = folds is not None and all(len(rows) for _, rows in folds)
    check_monitor(settings[0], validation is not None or held, task)
    if folds is None:
        check_batches(models[0], len(train[0]), settings[0].batch_size)
    else:
        check_folds(folds, models, settings[0].batch_size)
        for learned, _ in folds:
            check_batches(models[0], len(learned), settings[0].batch_size)
    order, groups = by_batches(settings, folds, augment)
    models, settings = [models[k].cpu() for k in order], [settings[k] for k in order]
    rows = [torch.arange(len(train[0]))] * len(models)
    held_out: Arrays | list[Arrays] | None = validation
    if folds is not None:
        rows = [folds[k][0] for k in order]
        if any(len(held) for _, held in folds):
            held_out = [tuple(t[folds[k][1]] for t in train) for k in order]
    return BatchedRun(
        order,
        groups,
        Stack(models),
        train,
        rows,
        held_out,
        settings,
        task,
        Dropouts(models, train[0][:2]),
        augment,
    )


def by_batches(
    settings: Sequence[Settings],
    folds: Sequence[tuple[Tensor, Tensor]] | None,
    augment: Augment | None,
) -> tuple[list[int], int]:
    """The order in which members with the same batches are adjacent, and the number of groups."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for k, own in enumerate(settings):
        alike.setdefault((own.seed, *map(id, folds[k] if folds else ())), []).append(k)
    if augment is not None or len({len(group) for group in alike.values()}) > 1:
        return list(range(len(settings))), len(settings)
    return [k for group in alike.values() for k in group], len(alike)


ALONE = {
    "precision": "full",
    "accumulate": 1,
    "compile": False,
    "lasso": 0.0,
    "ema_decay": 0.0,
    "layer_decay": 1.0,
    "unfreeze_every": 0,
    "sampling": "shuffle",
}
"""Settings that a batched program does not support, and the only value it accepts."""


def check_settings(members: int, settings: Sequence[Settings], task: Task) -> None:
    """One for each model, equal in everything that the program shares."""
    if len(settings) != members:
        raise InputError(f"expected {members} settings, one per network, got {len(settings)}")
    for name in (f.name for f in fields(Settings) if f.name not in OWN):
        values = sorted({str(getattr(s, name)) for s in settings})
        if len(values) > 1:
            raise NotBatchableError(
                f"networks trained together must agree in `{name}`, got {', '.join(values)}"
            )
    for name, wanted in ALONE.items():
        if getattr(settings[0], name) != wanted:
            raise NotBatchableError(f"`{name}` is not for networks trained together; leave it out")
    if settings[0].optimizer == "gd":
        raise NotBatchableError("`optimizer` gd is not for networks trained together; use sgd")
    if task.inputs != 1:
        raise NotBatchableError("networks trained together must take one input tensor each")


def check_folds(
    folds: Sequence[tuple[Tensor, Tensor]], models: Sequence[nn.Module], batch_size: int
) -> None:
    """One for each model, all with the same number of batches, and of rows for batch norms."""
    if len(folds) != len(models):
        raise InputError(f"expected one fold per network, got {len(folds)} for {len(models)}")
    batches = {math.ceil(len(rows) / batch_size) for rows, _ in folds}
    if len(batches) > 1:
        raise NotBatchableError(
            f"the folds give {min(batches)} to {max(batches)} batches an epoch; networks trained "
            "together must take the same number of steps: leave a row out of the larger folds"
        )
    if normalizes_batches(models[0]) and len({len(rows) for rows, _ in folds}) > 1:
        raise NotBatchableError(
            "networks with batch normalization that are trained together must learn from equally "
            "many rows: leave a row out of the larger folds, as k_folds does"
        )


def k_folds(examples: int, folds: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """(training rows, held-out rows) of k folds; every row is held out once.

    All folds train on equally many rows, some on one less than they could: no batch has gaps.
    """
    if not 2 <= folds <= examples:
        raise InputError(f"expected 2 to {examples} folds of {examples} examples, got {folds}")
    parts = torch.randperm(examples, generator=torch.Generator().manual_seed(seed))
    held = parts.tensor_split(folds)
    learned = [torch.cat([*held[:k], *held[k + 1 :]]) for k in range(folds)]
    fewest = min(map(len, learned))
    return [(rows[:fewest], out) for rows, out in zip(learned, held, strict=True)]

"""Training the members of an ensemble: networks of one shape, each with its own settings."""

import copy
import math
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from torch import nn

from chainrule.errors import NotBatchableError
from chainrule.estimators.sparse import as_batches, is_sparse
from chainrule.learning.tasks import Task
from chainrule.training import Record, Settings, iterate, iterate_many
from chainrule.training.stopping import last_epoch

Arrays = tuple[Any, ...]  # tensors; the first may be a `CsrRows`
Records = list[Record]


def _train_members(
    networks: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays | None,
    settings: Sequence[Settings],
    task: Task,
    flat: tuple[float, int],
    device: str,
) -> list[Records]:
    """Train every network in place; returns their records by epoch.

    Without a validation split a network stops when its training loss is flat: `flat` is the
    tolerance and the number of epochs in which the loss has to fall by it. Networks with a
    validation split are trained together, each keeping its own best weights. Networks without one
    stop in different epochs, so they are trained one by one.
    """
    dense = device in ("auto", "cpu") and not is_sparse(train[0])
    if len(networks) > 1 and validation is not None and dense:
        together = _train_together(networks, train, validation, settings, task)
        if together is not None:
            return together
    return [
        _train_one(network, train, validation, own, task, flat, device)
        for network, own in zip(networks, settings, strict=True)
    ]


def _train_together(
    networks: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays,
    settings: Sequence[Settings],
    task: Task,
) -> list[Records] | None:
    """All networks in one program; None, with the networks unchanged, if that is not possible."""
    copies = [copy.deepcopy(network) for network in networks]
    histories: list[Records] = [[] for _ in networks]
    try:
        for now in iterate_many(copies, train, validation, settings, task):
            for history, record in zip(histories, now.members, strict=False):
                history.append({"epoch": now.epoch, **record})
    except NotBatchableError:
        return None
    if any(not math.isfinite(history[-1]["train_loss"]) for history in histories):
        return None
    for network, trained in zip(networks, copies, strict=True):
        network.load_state_dict(trained.state_dict())
    return [
        until_patience_ends(history, own) for history, own in zip(histories, settings, strict=True)
    ]


def until_patience_ends(history: Records, settings: Settings) -> Records:
    """The records up to the epoch in which the network would have stopped if trained alone."""
    _, end = last_epoch((record["validation_loss"] for record in history), settings.patience)
    return history[:end]


def _train_one(
    network: nn.Module,
    train: Arrays,
    validation: Arrays | None,
    settings: Settings,
    task: Task,
    flat: tuple[float, int],
    device: str,
) -> Records:
    history: Records = []
    parts = as_batches(train), as_batches(validation)
    steps = iterate(network, *parts, task=task, settings=settings, device=device)
    with closing(steps):
        for now in steps:
            if now.record is not None:
                history.append(now.record)
                if validation is None and is_flat(history, *flat):
                    break
    network.cpu()
    return history


def is_flat(history: Records, tolerance: float, epochs: int) -> bool:
    """Whether the training loss fell by less than the tolerance in the last epochs."""
    losses = [record["train_loss"] for record in history]
    return len(losses) > epochs and min(losses[-epochs:]) > min(losses[:-epochs]) - tolerance

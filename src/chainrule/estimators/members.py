"""Training networks of one shape on the same data, each by its own settings."""

import copy
import math
from collections.abc import Sequence
from contextlib import closing

from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training import Record, Settings, iterate, iterate_many
from chainrule.training.stopping import last_epoch

Arrays = tuple[Tensor, ...]
History = list[Record]


def _train_members(
    networks: Sequence[nn.Module],
    train: Arrays,
    validation: Arrays | None,
    settings: Sequence[Settings],
    task: Task,
    flat: tuple[float, int],
    device: str,
) -> list[History]:
    """Train every network in place; returns their records by epoch.

    Without a validation split a network stops when its training loss has become `flat`: no lower by
    a tolerance in the last so many epochs than before them. Several networks with a validation
    split are trained at once, each keeping its own best weights; those that stop by their training
    loss end with weights of different epochs, and are trained one after another.
    """
    if len(networks) > 1 and validation is not None and device in ("auto", "cpu"):
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
) -> list[History] | None:
    """All networks in one program; None, and nothing changed, where that is refused or diverges."""
    copies = [copy.deepcopy(network) for network in networks]
    histories: list[History] = [[] for _ in networks]
    try:
        for now in iterate_many(copies, train, validation, settings, task):
            for history, record in zip(histories, now.members, strict=False):
                history.append({"epoch": now.epoch, **record})
    except InputError:  # a single run says what is wrong, or can do it
        return None
    if any(not math.isfinite(history[-1]["train_loss"]) for history in histories):
        return None
    for network, trained in zip(networks, copies, strict=True):
        network.load_state_dict(trained.state_dict())
    return [
        until_patience_ends(history, own) for history, own in zip(histories, settings, strict=True)
    ]


def until_patience_ends(history: History, settings: Settings) -> History:
    """The records of a network up to the epoch in which it would have stopped alone."""
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
) -> History:
    history: History = []
    steps = iterate(network, train, validation, task=task, settings=settings, device=device)
    with closing(steps):
        for now in steps:
            if now.record is not None:
                history.append(now.record)
                if validation is None and is_flat(history, *flat):
                    break
    network.cpu()
    return history


def is_flat(history: History, tolerance: float, epochs: int) -> bool:
    """Whether the last epochs brought the training loss no lower than the tolerance asks."""
    losses = [record["train_loss"] for record in history]
    return len(losses) > epochs and min(losses[-epochs:]) > min(losses[:-epochs]) - tolerance

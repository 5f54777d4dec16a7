"""Training the members of an ensemble: networks of one shape, each with its own settings."""

import copy
import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from torch import nn

from chainrule.errors import NotBatchableError
from chainrule.estimators.sparse import as_batches, is_sparse
from chainrule.learning.tasks import Task
from chainrule.training import Record, Settings, devices, iterate_many
from chainrule.training.loop import run
from chainrule.training.sources import as_source
from chainrule.training.stopping import last_epoch
from chainrule.training.trainer import NetworkTrainer, TrainSpec, prepare

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
    source = as_source(as_batches(train), settings)
    held = None if validation is None else as_source(as_batches(validation), settings)
    spec = prepare(network, source, held, settings, task, devices.choose(device))
    trainer = EstimatorTrainer(network, spec, FlatLoss(*flat) if held is None else None)
    for _ in run(trainer, None):
        pass
    network.cpu()
    return trainer.state.history


class EstimatorTrainer(NetworkTrainer):
    """Trains one network, whose epochs nobody watches.

    Args:
        model: the network.
        spec: what stays the same.
        rule: ends training, if there is one.
    """

    reports = False

    def __init__(self, model: nn.Module, spec: TrainSpec, rule: "FlatLoss | None"):
        super().__init__(model, spec)
        self.rule = rule

    def out_of_patience(self) -> str:
        flat = self.rule is not None and self.rule.update(self.state.mean_loss())
        return "the training loss is flat" if flat else super().out_of_patience()


class FlatLoss:
    """Whether the training loss fell by less than the tolerance in the last epochs.

    Args:
        tolerance: by which it has to fall.
        epochs: in which it has to.
    """

    def __init__(self, tolerance: float, epochs: int):
        self.tolerance, self.last = tolerance, deque[float](maxlen=epochs)
        self.before = math.inf  # the lowest loss of the epochs before the last ones

    def update(self, loss: float) -> bool:
        """Add an epoch's loss; whether it has been flat since."""
        if len(self.last) == self.last.maxlen:
            self.before = min(self.before, self.last[0])
        self.last.append(loss)
        return min(self.last) > self.before - self.tolerance

"""One more epoch of a run that has no end: what `partial_fit` needs.

The order of epoch e follows from (seed, e) and the optimizer keeps its state, so that k calls are
bit for bit the same as one run of k epochs.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn

from chainrule.estimators.sparse import as_batches
from chainrule.learning.tasks import Task
from chainrule.training import Settings, devices
from chainrule.training.checkpoint import optimizer_tensors, restore_optimizer
from chainrule.training.loop import epochs
from chainrule.training.randomness import outer_randomness
from chainrule.training.sources import as_source
from chainrule.training.trainer import NetworkTrainer, prepare


@dataclass
class RunState:
    """What the next epoch needs besides the weights."""

    seed: int
    epochs: int = 0
    optimizer: dict[str, Tensor] = field(default_factory=dict)


def one_more_epoch(
    network: nn.Module,
    train: tuple[Any, ...],
    settings: Settings,
    task: Task,
    device: str,
    state: RunState,
) -> float:
    """Train in place and update the state; returns the mean training loss."""
    settings = replace(settings, epochs=state.epochs + 1)
    spec = prepare(
        network,
        as_source(as_batches(train), settings),
        None,
        settings,
        task,
        devices.choose(device),
    )
    trainer = NetworkTrainer(network, spec)
    restore_optimizer(trainer.state.optimizer, state.optimizer)
    trainer.state.epoch = state.epochs
    with devices.prepared(trainer.device, trainer.threads), outer_randomness():
        *_, last = epochs(trainer)
    network.cpu().eval()
    state.epochs = trainer.state.epoch
    state.optimizer = optimizer_tensors(trainer.state.optimizer)
    return last.loss

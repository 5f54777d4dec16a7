"""One more epoch, as if training had never paused: what `partial_fit` needs.

The order of epoch e follows from (seed, e) and the optimizer remembers its averages, so that k
epochs one by one are the same, bit for bit, as k epochs in one run.
"""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from chainrule.learning.tasks import Task
from chainrule.training import Settings, devices
from chainrule.training.checkpoint import optimizer_tensors, restore_optimizer
from chainrule.training.loop import epochs
from chainrule.training.sources import Rows
from chainrule.training.trainer import NetworkTrainer, prepare


@dataclass
class Memory:
    """What is needed beside the weights: the seed, the epochs behind, the optimizer's averages."""

    seed: int
    epochs: int = 0
    averages: dict[str, Tensor] = field(default_factory=dict)


def one_more_epoch(
    network: nn.Module,
    train: tuple[Tensor, ...],
    settings: Settings,
    task: Task,
    device: str,
    memory: Memory,
) -> float:
    """Train in place and update the memory; returns the mean training loss."""
    settings = replace(settings, epochs=memory.epochs + 1)
    spec = prepare(network, Rows(train), None, settings, task, devices.choose(device))
    trainer = NetworkTrainer(network, spec)
    restore_optimizer(trainer.state.optimizer, memory.averages)
    trainer.state.epoch = memory.epochs
    with devices.prepared(trainer.device, trainer.threads), torch.random.fork_rng(devices=[]):
        *_, last = epochs(trainer)
    network.cpu().eval()
    memory.epochs = trainer.state.epoch
    memory.averages = optimizer_tensors(trainer.state.optimizer)
    return last.loss

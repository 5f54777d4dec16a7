"""One more epoch, as if training had never paused: what `partial_fit` needs.

The order of epoch e follows from (seed, e) and the optimizer remembers its averages, so that k
epochs one by one are the same, bit for bit, as k epochs in one run.
"""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from chainrule.learning.optimizers import optimizer
from chainrule.learning.tasks import Objective
from chainrule.training import Settings, devices
from chainrule.training.checkpoint import optimizer_tensors, restore_optimizer
from chainrule.training.loop import epochs, prepare
from chainrule.training.state import State


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
    objective: Objective,
    device: str,
    memory: Memory,
) -> float:
    """Train in place and update the memory; returns the mean training loss."""
    settings = replace(settings, epochs=memory.epochs + 1)
    job = prepare(network, train, None, settings, objective, devices.choose(device))
    rule = optimizer(settings.optimizer, network, settings.learning_rate, settings.weight_decay)
    restore_optimizer(rule, memory.averages)
    state = State(network, rule, epoch=memory.epochs)
    threads = settings.threads or devices.threads_for(network, settings.batch_size)
    with devices.prepared(job.device, threads), torch.random.fork_rng(devices=[]):
        *_, last = epochs(state, job)
    network.cpu()
    memory.epochs, memory.averages = state.epoch, optimizer_tensors(rule)
    return last.loss

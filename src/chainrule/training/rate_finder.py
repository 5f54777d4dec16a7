"""Learning-rate range test: one step at each rate, from far too small to far too large.

    η_t = η_0 (η_T / η_0)^{t/T},   one optimizer step at each rate, with the loss before it

The loss falls where a rate is useful and rises steeply where it is too large; a good rate lies a
little below the end of the descent. A copy is trained; the model itself is not changed.
Smith (2017), "Cyclical learning rates for training neural networks".
"""

import copy
import math
from dataclasses import replace
from typing import Any, NamedTuple

from torch import nn

from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.training import devices
from chainrule.training.objective import chosen_task
from chainrule.training.randomness import GENERATOR, outer_randomness, reseed
from chainrule.training.settings import Settings
from chainrule.training.sources.convert import as_source
from chainrule.training.trainer import NetworkTrainer, prepare

FAR_TOO_LARGE = 4.0  # times the lowest loss: the search is over


class RateSearch(NamedTuple):
    """The rates, the smoothed loss at each, and the suggested rate."""

    rates: list[float]
    losses: list[float]
    suggestion: float


def find_rate(
    model: nn.Module,
    train: Any,
    settings: Settings,
    task: Task | None = None,
    lowest: float = 1e-6,
    highest: float = 10.0,
    steps: int = 200,
) -> RateSearch:
    """Try the rates on a copy of the model."""
    if not (0 < lowest < highest and steps > 1):
        raise InputError(f"expected rates from low to high, got {lowest} to {highest} in {steps}")
    copied = copy.deepcopy(model)
    task = chosen_task(task, train, train)
    settings = replace(settings, patience=0)
    source = as_source(train, settings, task.inputs)
    trainer = NetworkTrainer(
        copied, prepare(copied, source, None, settings, task, devices.choose("cpu"))
    )
    rates, losses, mean = [], [], 0.0
    with devices.prepared(trainer.device, trainer.threads), outer_randomness(), GENERATOR:
        for t in range(steps):
            rate = lowest * (highest / lowest) ** (t / (steps - 1))
            trainer.set_rate(rate / settings.learning_rate)
            trainer.state.epoch, trainer.state.step = divmod(t, trainer.steps)
            if trainer.state.step == 0:
                trainer.start_epoch()
            reseed(settings.seed, t, on_cpu=True)
            loss = trainer.update(trainer.batches(trainer.state.step)).item()
            if not math.isfinite(loss):
                break
            mean = 0.9 * mean + 0.1 * loss
            rates.append(rate)
            losses.append(mean / (1 - 0.9 ** (t + 1)))
            if losses[-1] > FAR_TOO_LARGE * min(losses):
                break
    return RateSearch(rates, losses, suggested(rates, losses))


def suggested(rates: list[float], losses: list[float]) -> float:
    """A third of the rate at the lowest loss: still falling, with room before it turns."""
    if not rates:
        raise InputError("the loss is not finite even at the lowest rate; check data and model")
    return rates[losses.index(min(losses))] / 3

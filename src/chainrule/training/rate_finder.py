"""Which learning rate: try them all once, from far too small to far too large.

    η_t = η_0 (η_T / η_0)^{t/T},   one step of the optimizer at each rate, the loss noted before it

The loss falls where a rate is useful and shoots up where it is too large; a good rate lies a little
below the steepest descent's end. A copy of the model is trained, the model itself is untouched.
Smith (2017), "Cyclical learning rates for training neural networks".
"""

import copy
import math
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.tasks import CLASSES, Objective
from chainrule.training import devices
from chainrule.training.checks import Arrays
from chainrule.training.loop import make_state, update
from chainrule.training.randomness import permutation, reseed
from chainrule.training.settings import Settings
from chainrule.training.spec import prepare

FAR_TOO_LARGE = 4.0  # times the lowest loss: the search is over


class Trial(NamedTuple):
    """Rates that were tried, the smoothed loss at each, and the rate to begin with."""

    rates: list[float]
    losses: list[float]
    suggestion: float


def find_rate(
    model: nn.Module,
    train: Arrays,
    settings: Settings,
    objective: Objective = CLASSES,
    lowest: float = 1e-6,
    highest: float = 10.0,
    steps: int = 200,
) -> Trial:
    """Walk through the rates on a copy of the model."""
    if not (0 < lowest < highest and steps > 1):
        raise InputError(f"expected rates from low to high, got {lowest} to {highest} in {steps}")
    trial = copy.deepcopy(model)
    job = prepare(
        trial, train, None, replace(settings, patience=0), objective, devices.choose("cpu")
    )
    state = make_state(trial, job)
    rates, losses, mean = [], [], 0.0
    threads = settings.threads or devices.threads_for(trial, settings.batch_size)
    outer_randomness = torch.get_rng_state()
    with devices.prepared(job.device, threads):
        for t in range(steps):
            rate = lowest * (highest / lowest) ** (t / (steps - 1))
            for group in state.optimizer.param_groups:
                group["lr"] = rate
            epoch, batch = divmod(t, job.steps)
            order = permutation(len(train[0]), settings.seed, epoch)
            reseed(settings.seed, t, on_cpu=True)
            trial.train()
            loss = update(state, job, order.split(settings.batch_size)[batch]).item()
            if not math.isfinite(loss):
                break
            mean = 0.9 * mean + 0.1 * loss
            rates.append(rate)
            losses.append(mean / (1 - 0.9 ** (t + 1)))
            if losses[-1] > FAR_TOO_LARGE * min(losses):
                break
    torch.set_rng_state(outer_randomness)
    return Trial(rates, losses, suggested(rates, losses))


def suggested(rates: list[float], losses: list[float]) -> float:
    """A third of the rate at the lowest loss: still falling, with room before it turns."""
    if not rates:
        raise InputError("the loss is not finite even at the lowest rate; look at data and model")
    return rates[losses.index(min(losses))] / 3

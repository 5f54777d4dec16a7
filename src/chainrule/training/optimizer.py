"""The optimizer that the settings of a run choose."""

from collections.abc import Iterable

import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.optimizers import optimizer as make_optimizer
from chainrule.training.settings import Settings


def optimizer_for(
    parameters: nn.Module | Iterable[nn.Parameter],
    settings: Settings,
    rate: float | None = None,
    decay: float | None = None,
) -> torch.optim.Optimizer:
    """The optimizer of the settings; batched runs handle rate and decay themselves."""
    made = make_optimizer(
        settings.optimizer,
        parameters,
        settings.learning_rate if rate is None else rate,
        settings.weight_decay if decay is None else decay,
    )
    if settings.beta2:
        adaptive = [group for group in made.param_groups if "betas" in group]
        if not adaptive:
            raise InputError("`beta2` is for adam, adamw and lion; leave it out")
        for group in adaptive:
            group["betas"] = (group["betas"][0], settings.beta2)
    return made

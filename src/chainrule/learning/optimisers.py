"""Optimisers by name: torch's own, fused into one pass over the memory where they can be.

    gradient descent   θ ← θ - η g
    momentum           v ← β v + g,  θ ← θ - η v                     (Polyak 1964, β = 0.9)
    Adam               Kingma and Ba (2015) with its bias correction, absent from J 3.3, A 1.3.10
    AdamW              Adam with decoupled decay, θ ← (1 - η μ) θ   (Loshchilov and Hutter 2019)

Weight decay μ adds μ θ to the gradient, the gradient of ½ μ ‖θ‖² (J 8.2 prints it with the sign
turned), and acts on weight matrices only: biases and norms stay free.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from chainrule.errors import InputError
from chainrule.learning.quick_adam import QuickAdam, QuickAdamW
from chainrule.registry import unknown

OPTIMISERS: Mapping[str, Callable[..., Optimizer]] = {
    "sgd": partial(torch.optim.SGD, fused=True),
    "momentum": partial(torch.optim.SGD, momentum=0.9, fused=True),
    "adam": partial(torch.optim.Adam, fused=True),
    "adamw": partial(torch.optim.AdamW, fused=True),
}
QUICK = {**OPTIMISERS, "adam": QuickAdam, "adamw": QuickAdamW}


def optimiser(
    name: str, parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float = 0.0
) -> Optimizer:
    """The optimiser of that name over the parameters that want a gradient."""
    if name not in OPTIMISERS:
        raise InputError(unknown("optimiser", name, list(OPTIMISERS)))
    parameters = [p for p in parameters if p.requires_grad]
    table = QUICK if all(p.device.type == "cpu" for p in parameters) else OPTIMISERS
    return table[name](groups(parameters, weight_decay), lr=learning_rate)


def groups(parameters: Iterable[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Matrices, which decay, and vectors (biases, norms), which do not."""
    parameters = list(parameters)
    matrices = [p for p in parameters if p.ndim > 1]
    vectors = [p for p in parameters if p.ndim <= 1]
    both = [(matrices, weight_decay), (vectors, 0.0)]
    return [{"params": group, "weight_decay": decay} for group, decay in both if group]

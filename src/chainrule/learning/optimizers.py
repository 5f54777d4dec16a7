"""Optimizers by name or by object: torch's own, fused into one pass over the memory where they can.

    gd, sgd               θ ← θ - η g                       g of all examples, or of a batch
    momentum, heavy-ball  v ← β v + g,  θ ← θ - η v         β = 0.9; Polyak (1964)
    nesterov              v ← β v + g,  θ ← θ - η (g + β v)           Nesterov (1983)
    adagrad               s ← s + g²,               θ ← θ - η g / (√s + ε)   Duchi et al. (2011)
    rmsprop               s ← α s + (1 - α) g²,     θ ← θ - η g / (√s + ε)   Hinton (2012), α = 0.99
    adam                  Kingma and Ba (2015), with the bias correction absent from J 3.3, A 1.3.10
    adamw                 Adam with decoupled decay, θ ← (1 - η μ) θ  Loshchilov and Hutter (2019)
    lion                  θ ← θ - η sgn(β₁ m + (1 - β₁) g)            Chen et al. (2023)

At a constant rate the momentum form is J 3.3's heavy ball, θ_{t+1} = θ_t - η g + β (θ_t - θ_{t-1});
under a constant gradient its step grows to η Σ_{k≥0} βᵏ = η / (1 - β) (J starts the sum at k = 1,
A 1.17 has no momentum term). Nesterov's is torch's, whose θ is J's look-ahead point χ.

Weight decay μ acts on weight matrices only: biases and norms stay free. It adds μ θ, the gradient
of ½ μ ‖θ‖², to g (J 8.2 prints it with the sign turned); adamw and lion decouple it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from chainrule.errors import InputError
from chainrule.learning.fused_adam import QuickAdam, QuickAdamW
from chainrule.learning.lion import Lion
from chainrule.registry import unknown

Maker = Callable[..., Optimizer]

SGD = partial(torch.optim.SGD, fused=True)
OPTIMIZERS: Mapping[str, Maker] = {
    "gd": SGD,
    "sgd": SGD,
    "momentum": partial(SGD, momentum=0.9),
    "heavy-ball": partial(SGD, momentum=0.9),
    "nesterov": partial(SGD, momentum=0.9, nesterov=True),
    "adagrad": partial(torch.optim.Adagrad, foreach=True),
    "rmsprop": partial(torch.optim.RMSprop, foreach=True),
    "adam": partial(torch.optim.Adam, fused=True),
    "adamw": partial(torch.optim.AdamW, fused=True),
    "lion": Lion,
}
ON_CPU: Mapping[str, Maker] = {
    **OPTIMIZERS,
    "adagrad": partial(torch.optim.Adagrad, fused=True),
    "adam": QuickAdam,
    "adamw": QuickAdamW,
}


def optimizer(
    name: str | Maker,
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    weight_decay: float = 0.0,
    **options: Any,
) -> Optimizer:
    """The optimizer over the parameters that want a gradient.

    name: one of the table, a class of torch.optim or like it, or a function of parameter groups.
    The groups carry rate and decay, which therefore win over those that such a function sets.
    options: further settings of the optimizer, such as momentum=0.95 or betas=(0.9, 0.95).
    """
    parameters = [p for p in parameters if p.requires_grad]
    decaying = groups(parameters, weight_decay)
    if isinstance(name, str):
        on_cpu = all(p.device.type == "cpu" for p in parameters)
        return named(name, on_cpu)(decaying, lr=learning_rate, **options)
    if isinstance(name, type):
        return name(decaying, lr=learning_rate, **options)
    return name([{**group, "lr": learning_rate} for group in decaying], **options)


def named(name: str, on_cpu: bool = True) -> Maker:
    """The table's entry; the CPU has kernels of its own."""
    if name not in OPTIMIZERS:
        raise InputError(unknown("optimizer", name, list(OPTIMIZERS)))
    return (ON_CPU if on_cpu else OPTIMIZERS)[name]


def groups(parameters: Iterable[nn.Parameter], weight_decay: float) -> list[dict[str, Any]]:
    """Matrices, which decay, and vectors (biases, norms), which do not."""
    parameters = list(parameters)
    matrices = [p for p in parameters if p.ndim > 1]
    vectors = [p for p in parameters if p.ndim <= 1]
    both = [(matrices, weight_decay), (vectors, 0.0)]
    return [{"params": group, "weight_decay": decay} for group, decay in both if group]

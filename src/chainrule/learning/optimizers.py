"""Optimizers by name, class or factory: torch's own, in their fused form where there is one.

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

Weight decay μ acts on weights only (`penalties.penalized_parameters`). It adds μ θ, the gradient of
½ μ ‖θ‖², to g (J 8.2 prints it with the sign turned); adamw and lion decouple it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from chainrule.arguments import NonNegative, checked
from chainrule.errors import InputError
from chainrule.learning.fused_adam import FusedAdam, FusedAdamW
from chainrule.learning.lion import Lion
from chainrule.learning.penalties import penalized_parameters
from chainrule.registry import unknown

Maker = Callable[..., Optimizer]

# torch's compiler, which takes longer to import than torch itself, is imported by the first call of
# these methods, only to keep compiled code out of them. Nothing here compiles an optimizer, so they
# are called as they are; a torch that looks elsewhere for the replacement merely starts later.
for method in ("add_param_group", "zero_grad", "state_dict", "load_state_dict"):
    plain = getattr(getattr(Optimizer, method), "__wrapped__", None)
    if plain is not None:
        vars(plain).setdefault("__dynamo_disable", plain)

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
CPU_OPTIMIZERS: Mapping[str, Maker] = {
    **OPTIMIZERS,
    "adagrad": partial(torch.optim.Adagrad, fused=True),
    "adam": FusedAdam,
    "adamw": FusedAdamW,
}


UNFIT = {
    "LBFGS": "measures the loss several times in a step, by a closure, and `fit` does so once, on "
    "one batch; use adam, or write a loop of your own over all examples",
    "SparseAdam": "takes sparse gradients only, and `fit` computes dense ones; use adam",
}
"""Classes of torch.optim that `fit` cannot use, and why."""


@checked
def optimizer(
    name: str | Maker,
    parameters: nn.Module | Iterable[nn.Parameter],
    learning_rate: NonNegative,
    weight_decay: NonNegative = 0.0,
    **options: Any,
) -> Optimizer:
    """An optimizer over the trainable parameters.

    Args:
        name: A key of `OPTIMIZERS`, a class such as `torch.optim.NAdam`, or a factory
            `parameter groups -> Optimizer`, whose own rate and decay yield to the two below.
        parameters: A model, whose weights decay by their role, or bare parameters, of which those
            with two or more axes decay.
        learning_rate: Step size η.
        weight_decay: μ.
        **options: Further arguments of the optimizer, such as momentum=0.95 or betas=(0.9, 0.95).
    """
    check_optimizer(name)
    groups = parameter_groups(parameters, weight_decay)
    if isinstance(name, str):
        on_cpu = all(p.device.type == "cpu" for group in groups for p in group["params"])
        return (CPU_OPTIMIZERS if on_cpu else OPTIMIZERS)[name](groups, lr=learning_rate, **options)
    try:
        if isinstance(name, type):
            made = name(groups, lr=learning_rate, **options)
        else:
            made = name([{**group, "lr": learning_rate} for group in groups], **options)
    except (TypeError, ValueError) as error:
        called = getattr(name, "__name__", "the factory")
        raise InputError(
            f"`optimizer` {called} does not take these parameters: {error}; a function of the "
            "parameter groups may choose among them, or return another optimizer"
        ) from error
    if not isinstance(made, Optimizer):
        raise InputError(
            f"expected the optimizer factory to return an optimizer, got {type(made).__name__}"
        )
    if weight_decay and "weight_decay" not in made.defaults:
        raise InputError(f"{type(made).__name__} has no weight decay; set weight_decay to 0")
    return made


def check_optimizer(name: object) -> None:
    """A key of `OPTIMIZERS`, a class or a factory."""
    if isinstance(name, type) and name.__name__ in UNFIT:
        raise InputError(f"`optimizer` {name.__name__} {UNFIT[name.__name__]}")
    if isinstance(name, str):
        if name not in OPTIMIZERS:
            raise InputError(unknown("optimizer", name, list(OPTIMIZERS)))
    elif isinstance(name, Optimizer):
        raise InputError(
            f"`optimizer` is made by `fit`; give the class, optimizer=torch.optim."
            f"{type(name).__name__}, and its rate as `learning_rate`"
        )
    elif not callable(name):
        raise InputError(
            "optimizer must be a name, a class of torch.optim or a factory that returns an "
            f"optimizer, got {name!r}"
        )


@checked
def parameter_groups(
    parameters: nn.Module | Iterable[nn.Parameter], weight_decay: float
) -> list[dict[str, Any]]:
    """The weights, which decay, and all other trainable parameters, which do not."""
    if isinstance(parameters, nn.Module):
        trainable = [p for p in parameters.parameters() if p.requires_grad]
        decays = set(penalized_parameters(parameters))
    else:
        trainable = [p for p in parameters if p.requires_grad]
        decays = {p for p in trainable if p.ndim > 1}
    weights = [p for p in trainable if p in decays]
    others = [p for p in trainable if p not in decays]
    both = [(weights, weight_decay), (others, 0.0)]
    return [{"params": group, "weight_decay": decay} for group, decay in both if group]

"""The layers of a network from input to output: rates by depth, and layers that learn later.

    η_l = η d^{L - l}             layer l = 1 … L, d = `layer_decay`
    layer l learns from epoch (L - l) · `unfreeze_every` on

A layer is what the network numbers, such as blocks.3 or layer2.0. What is used before the first of
them belongs to the first layer, and what is used after the last is a layer of its own, the head.
Howard and Ruder (2018), ACL. Notes: A 1.0.2 (transfer learning), J 6.5 (fine-tuning).
"""

import re
from collections.abc import Callable

import torch
from torch import nn

from chainrule.errors import InputError
from chainrule.training.evaluation import evaluation_mode
from chainrule.training.settings import Settings

Layers = list[list[nn.Parameter]]
NUMBERED = re.compile(r"(?:.*?\.)??\d+(?=\.)")


def layers_of(model: nn.Module, forward: Callable[[], object]) -> Layers:
    """The trainable parameters of each layer, in the order in which a forward pass uses them.

    model: the network.
    forward: one forward pass of it.
    """
    used = order_of_use(model, forward)
    parameters = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    parameters.sort(key=lambda pair: place(pair[0], used))
    found: dict[str, list[nn.Parameter]] = {}
    waiting: list[nn.Parameter] = []
    for name, parameter in parameters:
        number = NUMBERED.match(name)
        if number is None:
            waiting.append(parameter)
            continue
        found.setdefault(number[0], []).extend([*waiting, parameter])
        waiting = []
    return [*found.values(), *([waiting] if waiting else [])]


def order_of_use(model: nn.Module, forward: Callable[[], object]) -> dict[str, int]:
    """The place of each module in the order of their first calls."""
    names = {module: name for name, module in model.named_modules()}
    used: dict[str, int] = {}

    def note(part: nn.Module, inputs: object) -> None:
        used.setdefault(names[part], len(used))

    hooks = [module.register_forward_pre_hook(note) for module in names]
    try:
        with evaluation_mode(model), torch.no_grad():
            forward()
    finally:
        for hook in hooks:
            hook.remove()
    return used


def place(name: str, used: dict[str, int]) -> int:
    """When a parameter is used: when its module is called, or the nearest around it that is."""
    module = name
    while module:
        module = module.rpartition(".")[0]
        if module in used:
            return used[module]
    return -1


def check_layers(settings: Settings, layers: Layers) -> None:
    """Refuse what rates by depth cannot do."""
    if len(layers) < 2:
        raise InputError(
            "`layer_decay` and `unfreeze_every` need a network of two layers or more that can be "
            "trained"
        )
    if settings.lasso and settings.layer_decay < 1:
        raise InputError(
            "`lasso` shrinks all weights at one rate; leave out `lasso` or `layer_decay`"
        )


def scale_rates(optimizer: torch.optim.Optimizer, layers: Layers, decay: float) -> None:
    """Divide the groups of an optimizer by layer; `rate_scale` is each one's share of the rate."""
    depth = {p: len(layers) - 1 - number for number, layer in enumerate(layers) for p in layer}
    for group in list(optimizer.param_groups):
        parts: dict[int, list[nn.Parameter]] = {}
        for parameter in group["params"]:
            parts.setdefault(depth[parameter], []).append(parameter)
        for number, (below, parameters) in enumerate(parts.items()):
            scaled = {"params": parameters, "rate_scale": decay**below}
            if number:
                optimizer.add_param_group({**group, **scaled})
            else:
                group |= scaled


def train_last(layers: Layers, number: int) -> None:
    """Train the last layers, this many, and none before them."""
    for place_from_last, layer in enumerate(reversed(layers)):
        for parameter in layer:
            parameter.requires_grad_(place_from_last < number)

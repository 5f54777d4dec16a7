"""What a network of affine maps says about itself, so that its gradients can be written out.

    h_l = m_l ⊙ φ(W_l h_{l-1} + b_l),   f(x) = W_L h_{L-1} + b_L

A model says so as a `DenseStack`; an `nn.Sequential` is read.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules.module import _has_any_global_hook as has_any_global_hook


class DenseLayer(NamedTuple):
    """One affine map, what follows it, and the rate of `chainrule.nn.dropout` after that."""

    linear: nn.Linear
    activation: Callable[[Tensor], Tensor] | None = None
    rate: float = 0.0


class DenseStack:
    """A model that may be nothing but affine maps with activations between them."""

    def dense_layers(self) -> list[DenseLayer] | None:
        """Its layers, or None if there is anything else."""
        return None


MODULES: dict[type[nn.Module], Callable[[Tensor], Tensor]] = {
    nn.ReLU: F.relu,
    nn.Tanh: torch.tanh,
    nn.Sigmoid: torch.sigmoid,
}
DERIVATIVES: dict[Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]] = {
    F.relu: lambda delta, h: torch.ops.aten.threshold_backward.default(delta, h, 0),
    torch.tanh: torch.ops.aten.tanh_backward.default,
    torch.sigmoid: torch.ops.aten.sigmoid_backward.default,
}
"""δ ⊙ φ'(z), by the value h = φ(z)."""


def dense_layers(model: nn.Module) -> list[DenseLayer] | None:
    """The layers of a model that is nothing but affine maps with activations between them."""
    if type(model) is nn.Sequential:
        layers = read(model)
    else:
        layers = model.dense_layers() if isinstance(model, DenseStack) else None
    return layers if layers and plain(model, layers) else None


def read(parts: Iterable[nn.Module]) -> list[DenseLayer] | None:
    """The layers of a sequence, which may begin by flattening; None if it holds anything else."""
    layers: list[DenseLayer] = []
    for place, part in enumerate(parts):
        if type(part) is nn.Flatten and not place and (part.start_dim, part.end_dim) == (1, -1):
            continue
        if type(part) is nn.Linear:
            layers.append(DenseLayer(part))
        elif type(part) in MODULES and layers and layers[-1].activation is None:
            layers[-1] = layers[-1]._replace(activation=MODULES[type(part)])
        else:
            return None
    return layers


def plain(model: nn.Module, layers: list[DenseLayer]) -> bool:
    """Whether the layers are all there is: nothing watched, replaced, frozen, shared or further.

    Asked in every epoch, so the parameters are read off the modules in one walk.
    """
    linears = [layer.linear for layer in layers]
    parts = list(model.modules())
    every = {p for part in parts for p in part._parameters.values() if p is not None}
    own = {p for part in linears for p in part._parameters.values() if p is not None}
    return (
        all(type(part) is nn.Linear for part in linears)
        and len(set(linears)) == len(linears)
        and own == every
        and len(own) == sum(1 + (part.bias is not None) for part in linears)
        and all(p.requires_grad and not hooked_weight(p) for p in own)
        and not any(hooked(part) or "forward" in vars(part) for part in parts)
        and not has_any_global_hook()
    )


def hooked(part: nn.Module) -> bool:
    """Whether somebody watches or changes what goes through a module."""
    before = part._forward_hooks or part._forward_pre_hooks
    return bool(before or part._backward_hooks or part._backward_pre_hooks)


def hooked_weight(p: Tensor) -> bool:
    """Whether somebody watches or changes the gradient of a weight."""
    return bool(p._backward_hooks) or bool(getattr(p, "_post_accumulate_grad_hooks", None))

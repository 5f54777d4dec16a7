"""Activation functions, by name.

    step         1 if z > 0, else 0        gradient 0 almost everywhere
    identity     z
    sigmoid      1 / (1 + e⁻ᶻ)             saturates: gradient → 0 for large |z|
    tanh         2 σ(2z) - 1               saturates too
    relu         max(0, z)                 gradient 1 for every z > 0; unbounded above
    leaky_relu   max(0.01 z, z)
    softplus     log(1 + eᶻ)
    gelu         z Φ(z)                    Φ the normal distribution function

Notes: J 2.2, J 2.4, L "Why activation functions matter", L exercise 10.2.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError

Activation = Callable[[Tensor], Tensor]


def step(z: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """1 if z > 0, else 0; its gradient is zero."""
    return z.sign().clamp(min=0)


def identity(z: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """z."""
    return z


sigmoid = torch.sigmoid
tanh = torch.tanh
relu = F.relu
leaky_relu = F.leaky_relu
softplus = F.softplus
gelu = F.gelu

ACTIVATIONS: dict[str, Activation] = {
    "step": step,
    "identity": identity,
    "sigmoid": sigmoid,
    "tanh": tanh,
    "relu": relu,
    "leaky_relu": leaky_relu,
    "softplus": softplus,
    "gelu": gelu,
}


@checked
def activation(name: str) -> Activation:
    """The function of that name; dashes count as underscores."""
    try:
        return ACTIVATIONS[name.replace("-", "_")]
    except KeyError:
        known = ", ".join(ACTIVATIONS)
        raise InputError(f"there is no activation {name!r}; choose one of {known}") from None

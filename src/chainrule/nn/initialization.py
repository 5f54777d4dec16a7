"""Initial weights of a layer with n inputs and m outputs, by name; biases start at zero.

    kaiming, kaiming-uniform   variance 2/n          half of the ReLUs are off; He et al. (2015)
    xavier, xavier-uniform     variance 2/(n + m)    Glorot and Bengio (2010)
    lecun, lecun-uniform       variance 1/n          Var (W x)_i = Var x_j; LeCun et al. (1998)
    normal, uniform            variance 0.01²        independent of n and m
    orthogonal                 all singular values 1 (J prints eigenvalues ±1); Saxe et al. (2013)
    zero, constant             0, 0.1                all units of a layer stay equal

A uniform distribution of variance σ² has the range ±√3 σ. For a convolution, n and m include the
kernel's pixels.
Notes: J 8.1, A 1.3.2 (whose N(0, √(2/(n + m))) gives the standard deviation).
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from torch import Tensor, nn
from torch.nn import init

from chainrule.arguments import checked
from chainrule.errors import InputError

SIGMA = 0.01
Layer = TypeVar("Layer", bound=nn.Module)

INITIALIZATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "kaiming": partial(init.kaiming_normal_, nonlinearity="relu"),
    "kaiming-uniform": partial(init.kaiming_uniform_, nonlinearity="relu"),
    "xavier": init.xavier_normal_,
    "xavier-uniform": init.xavier_uniform_,
    "lecun": partial(init.kaiming_normal_, nonlinearity="linear"),
    "lecun-uniform": partial(init.kaiming_uniform_, nonlinearity="linear"),
    "normal": partial(init.normal_, std=SIGMA),
    "uniform": partial(init.uniform_, a=-(3**0.5) * SIGMA, b=3**0.5 * SIGMA),
    "orthogonal": init.orthogonal_,
    "zero": init.zeros_,
    "constant": partial(init.constant_, val=0.1),
}


@checked
def initialize(layer: Layer, name: str) -> Layer:
    """Draw the weight of a linear or convolutional layer by the named scheme and zero its bias."""
    if name not in INITIALIZATIONS:
        known = ", ".join(INITIALIZATIONS)
        raise InputError(f"there is no initialization {name!r}; choose one of {known}")
    INITIALIZATIONS[name](layer.weight)  # type: ignore[arg-type]
    if layer.bias is not None:
        init.zeros_(layer.bias)  # type: ignore[arg-type]
    return layer

"""Initial weights of a linear layer W ∈ ℝᵐˣⁿ, by name; biases start at zero.

    kaiming      N(0, 2/n)             half of the ReLUs are off
    xavier       N(0, 2/(n + m))
    lecun        N(0, 1/n)
    normal       N(0, 0.01²)
    orthogonal   all singular values 1
    zero         0                     every unit of a layer stays the same

Notes: J 8.1.
"""

from collections.abc import Callable

from torch import Tensor, nn

from chainrule.errors import InputError

INITIALISATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "kaiming": lambda W: nn.init.kaiming_normal_(W, nonlinearity="relu"),
    "xavier": nn.init.xavier_normal_,
    "lecun": lambda W: nn.init.kaiming_normal_(W, nonlinearity="linear"),
    "normal": lambda W: nn.init.normal_(W, std=0.01),
    "orthogonal": nn.init.orthogonal_,
    "zero": nn.init.zeros_,
}


def initialise(layer: nn.Linear, name: str) -> nn.Linear:
    """Draw the layer's weight from the scheme of that name; its bias becomes zero."""
    if name not in INITIALISATIONS:
        known = ", ".join(INITIALISATIONS)
        raise InputError(f"there is no initialisation {name!r}; choose one of {known}")
    INITIALISATIONS[name](layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer

"""Forward mode: the derivative of all outputs along one direction, in one forward sweep.

    any function     ∂f(x) v = d/dε f(x + ε v)  at ε = 0
    dense network    ż_l = Ẇ_l h_{l-1} + W_l ḣ_{l-1} + ḃ_l,   ḣ_l = φ'(z_l) ⊙ ż_l,   ḣ_0 = ẋ

`tangents` is the recursion written out, `directional_derivative` leaves it to torch. A full
Jacobian takes one sweep per input; reverse mode (`backpropagation`) takes one per output.

Wengert (1964), Communications of the ACM 7.
Notes: J 3.1, L "Backprop as Reverse-Mode Differentiation".
"""

import warnings
from collections.abc import Callable, Sequence

from jaxtyping import Float
from torch import Tensor
from torch.func import jvp

from chainrule.arguments import checked
from chainrule.autodiff.backpropagation import ACTIVATIONS, Layer, forward


@checked
def tangents(
    layers: Sequence[Layer],
    x: Float[Tensor, "batch n"],
    directions: Sequence[Layer],
    x_direction: Float[Tensor, "batch n"],
    activation: str,
) -> Float[Tensor, "batch outputs"]:
    """ḟ, the derivative of the outputs along (Ẇ_1, ḃ_1, …, Ẇ_L, ḃ_L, ẋ).

    Args:
        layers: W_1, b_1 up to W_L, b_L.
        x: Inputs, one per row.
        directions: Ẇ_1, ḃ_1 up to Ẇ_L, ḃ_L.
        x_direction: ẋ.
        activation: Name of φ.

    >>> import torch
    >>> double = Layer(torch.tensor([[2.0]]), torch.zeros(1))
    >>> still = Layer(torch.zeros(1, 1), torch.zeros(1))
    >>> tangents([double], torch.ones(1, 1), [still], torch.ones(1, 1), "relu")
    tensor([[2.]])
    """
    z, h = forward(layers, x, activation)
    _, derivative = ACTIVATIONS[activation]
    h_dot = x_direction
    for (W, _), (W_dot, b_dot), z_l, h_l in zip(layers, directions, z, h, strict=True):
        z_dot = h_l @ W_dot.T + h_dot @ W.T + b_dot
        h_dot = derivative(z_l) * z_dot
    return z_dot


@checked
def directional_derivative(
    f: Callable[[Tensor], Tensor], x: Tensor, v: Tensor
) -> tuple[Tensor, Tensor]:
    """f(x) and ∂f(x) v.

    Args:
        f: A differentiable function.
        x: Where.
        v: Along which direction.

    >>> import torch
    >>> directional_derivative(torch.square, torch.tensor([3.0]), torch.tensor([1.0]))
    (tensor([9.]), tensor([6.]))
    """
    with warnings.catch_warnings():
        # torch compiles its forward-mode rules on first use with a function it has deprecated.
        warnings.filterwarnings("ignore", "`torch.jit.script`", DeprecationWarning)
        value, derivative = jvp(f, (x,), (v,))[:2]
    return value, derivative

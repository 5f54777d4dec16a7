"""Residual network: layers that change their input instead of replacing it.

    F(x) = x + φ(W x + b) - φ(0)              so that F[0, 0] = Id
    F(x) = V x + φ(W x + b) - φ(0)            V projects where the widths differ
    f(x) = U (F_L ∘ … ∘ F_1)(x) + c

He et al. (2016), CVPR. Notes: J 2.3.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.nn.activations import Activation
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.initialization import initialize


class ResidualLayer(nn.Module):
    """One residual layer; it has a projection exactly where its widths differ."""

    def __init__(self, inputs: int, outputs: int, activation: str = "relu"):
        super().__init__()
        self.activation = activation_named(activation)
        self.linear = initialize(nn.Linear(inputs, outputs), "kaiming")
        self.projection = None
        if inputs != outputs:
            self.projection = initialize(nn.Linear(inputs, outputs, bias=False), "lecun")

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch m"]:
        V = None if self.projection is None else self.projection.weight
        return residual(x, self.linear.weight, self.linear.bias, self.activation, V)


class ResidualNetwork(nn.Module):
    """`depth` residual layers of one width, of which the first projects, and an affine map."""

    def __init__(self, inputs: int, width: int, depth: int, outputs: int, activation: str = "relu"):
        super().__init__()
        sizes = [inputs] + [width] * (depth - 1)
        self.layers = nn.ModuleList(ResidualLayer(n, width, activation) for n in sizes)
        self.output = initialize(nn.Linear(width, outputs), "lecun")

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        h = x.flatten(1)
        for layer in self.layers:
            h = layer(h)
        return self.output(h)


def residual(
    x: Float[Tensor, "batch n"],
    W: Float[Tensor, "m n"],
    b: Float[Tensor, " m"],
    activation: Activation,
    V: Float[Tensor, "m n"] | None = None,
) -> Float[Tensor, "batch m"]:
    """V x + φ(W x + b) - φ(0), with V = Id if none is given."""
    shortcut = x if V is None else F.linear(x, V)
    return shortcut + activation(F.linear(x, W, b)) - activation(torch.zeros_like(b))


def example() -> tuple[ResidualNetwork, Tensor]:
    """Three residual layers, and five inputs."""
    return ResidualNetwork(4, width=6, depth=3, outputs=2, activation="sigmoid"), torch.randn(5, 4)

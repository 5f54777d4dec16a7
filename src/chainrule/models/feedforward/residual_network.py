"""Residual network: layers that change their input instead of replacing it.

    F(x) = x + φ(W x + b) - φ(0)              so that F[0, 0] = Id
    F(x) = V x + φ(W x + b) - φ(0)            V projects where the sizes differ
    f(x) = U (F_L ∘ … ∘ F_1)(x) + c

A network starts near the identity: the initial W of each of its L layers is divided by L. The size
of the output then grows by ∏ (1 + 1/L) ≤ e at most, at any depth. Without the division each layer
multiplies it by a constant, and the output of 32 layers has a spread of about 10⁷. W = 0 would not
do for the ReLU, whose slope at 0 is 0, so that nothing would be learned.

He et al. (2016), CVPR; Hanin and Rolnick (2018), NeurIPS, for the scale of W. Notes: J 2.3.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.nn.activations import Activation
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.initialization import initialize


@checked
class ResidualLayer(nn.Module):
    """One residual layer; it has a projection V exactly where its sizes differ.

        F(x) = x + φ(W x + b) - φ(0)        or  V x + φ(W x + b) - φ(0)

    Args:
        inputs: Size of x.
        outputs: Size of F(x).
        activation: Name of φ, see `chainrule.nn.activations`.

    Example:
        >>> import torch
        >>> layer = ResidualLayer(3, 3)
        >>> _ = torch.nn.init.zeros_(layer.linear.weight)
        >>> layer(torch.tensor([[1.0, -2.0, 3.0]])).tolist()
        [[1.0, -2.0, 3.0]]
    """

    def __init__(self, inputs: Count, outputs: Count, activation: str = "relu"):
        super().__init__()
        self.activation = activation_named(activation)
        self.linear = initialize(nn.Linear(inputs, outputs), "kaiming")
        self.projection = None
        if inputs != outputs:
            self.projection = initialize(nn.Linear(inputs, outputs, bias=False), "lecun")

    def forward(self, x: Float[Tensor, "batch n"]) -> Float[Tensor, "batch m"]:
        V = None if self.projection is None else self.projection.weight
        return residual(x, self.linear.weight, self.linear.bias, self.activation, V)


@checked
class ResidualNetwork(nn.Module):
    """Residual layers of one size, the first of which may project, and an affine map.

        f(x) = U (F_L ∘ … ∘ F_1)(x) + c,     F_l(h) = h + φ(W_l h + b_l) - φ(0)

    The initial W_l are divided by L, so that depth leaves the size of the output alone.

    Args:
        inputs: Number of inputs; examples of any shape are flattened.
        hidden_size: Units of each layer.
        num_layers: L.
        outputs: Number of outputs.
        activation: Name of φ, see `chainrule.nn.activations`.

    Example:
        >>> import torch
        >>> model = ResidualNetwork(4, hidden_size=16, num_layers=24, outputs=3)
        >>> model(torch.zeros(5, 4)).shape
        torch.Size([5, 3])
    """

    def __init__(
        self,
        inputs: Count,
        hidden_size: Count,
        num_layers: Count,
        outputs: Count,
        activation: str = "relu",
    ):
        super().__init__()
        sizes = [inputs] + [hidden_size] * (num_layers - 1)
        self.layers = nn.ModuleList(ResidualLayer(n, hidden_size, activation) for n in sizes)
        self.output = initialize(nn.Linear(hidden_size, outputs), "lecun")
        with torch.no_grad():
            for layer in self.layers:
                layer.linear.weight.div_(num_layers)  # type: ignore[operator, union-attr]

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
    return ResidualNetwork(4, 6, 3, outputs=2, activation="sigmoid"), torch.randn(5, 4)

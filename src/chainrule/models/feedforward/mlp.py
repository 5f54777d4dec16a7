"""Multi-layer perceptron: affine maps with a nonlinearity between them.

    h_0 = x,   h_l = φ(W_l h_{l-1} + b_l),   f(x) = W_L h_{L-1} + b_L

In training each hidden unit is dropped with its layer's probability p, and the others are divided
by 1 - p. A norm acts between the affine map and φ, or on the hidden weights (w = γ v / ‖v‖).
Hidden units can be permuted without changing f.

Rumelhart, Hinton and Williams (1986), Nature 323; dropout: Srivastava et al. (2014), JMLR 15.
Notes: J 2.2 (where b ∈ ℝⁿ should read ℝᵐ), J 2.4, L "MLPs: mathematical formulation".
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.errors import InputError
from chainrule.nn.activations import activation as activation_named
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.dense_stack import DenseLayer, DenseStack
from chainrule.nn.normalization import WeightNormLinear

NORMS = {
    None: nn.Identity,
    "batch": nn.BatchNorm1d,
    "layer": nn.LayerNorm,
    "weight": nn.Identity,  # acts on the weights of the hidden layers instead
}


@checked
class MLP(DenseStack, nn.Module):
    """A fully connected network; `layers` are its affine maps in order.

        h_0 = x,   h_l = φ(W_l h_{l-1} + b_l),   f(x) = W_L h_{L-1} + b_L

    Args:
        inputs: Number of inputs; examples of any shape are flattened.
        hidden: Units of each hidden layer.
        outputs: Number of outputs.
        activation: Name of φ, see `chainrule.nn.activations`.
        dropout: Probability of dropping a hidden unit: one, or one per hidden layer.
        initialization: Scheme of the initial weights, see `chainrule.nn.initialization`.
        norm: "batch" or "layer" normalization before φ, "weight" normalization, or None.
        output_bias: Whether there is a b_L.

    Example:
        >>> import torch
        >>> model = MLP(784, [256, 128], 10, dropout=0.2)
        >>> model(torch.zeros(5, 28, 28)).shape
        torch.Size([5, 10])
    """

    def __init__(
        self,
        inputs: Count,
        hidden: Sequence[Count],
        outputs: Count,
        activation: str = "relu",
        dropout: Rate | Sequence[Rate] = 0.0,
        initialization: str = "kaiming",
        norm: str | None = None,
        output_bias: bool = True,
    ):
        super().__init__()
        self.activation = activation_named(activation)
        self.rates = _per_layer(dropout, len(hidden))
        sizes = [inputs, *hidden, outputs]
        bias = [True] * len(hidden) + [output_bias]
        self.layers = nn.ModuleList(
            initialize(nn.Linear(m, n, bias=b), initialization)
            for (m, n), b in zip(pairwise(sizes), bias, strict=True)
        )
        if norm not in NORMS:
            raise InputError(f"norm must be 'batch', 'layer', 'weight' or None, got {norm!r}")
        if norm == "weight":
            *below, last = self.layers
            self.layers = nn.ModuleList([*(WeightNormLinear(layer) for layer in below), last])  # type: ignore[arg-type]
        self.norms = nn.ModuleList(NORMS[norm](width) for width in hidden)

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        """f(x)."""
        h = x.flatten(1)
        # zip stops at the hidden layers; the last one follows the loop.
        for layer, norm, rate in zip(self.layers, self.norms, self.rates, strict=False):
            h = dropout(self.activation(norm(layer(h))), rate, self.training)
        return self.layers[-1](h)

    def dense_layers(self) -> list[DenseLayer] | None:
        """Its affine maps for an engine that writes out their gradients; None with a norm."""
        linears = [layer for layer in self.layers if type(layer) is nn.Linear]
        others = len(self.layers) - len(linears)
        others += sum(type(norm) is not nn.Identity for norm in self.norms)
        if others or type(self).forward is not MLP.forward:
            return None
        *below, last = linears
        hidden = zip(below, self.rates, strict=True)
        return [*(DenseLayer(layer, self.activation, p) for layer, p in hidden), DenseLayer(last)]


def parameter_count(
    inputs: int, hidden: Sequence[int], outputs: int, output_bias: bool = True
) -> int:
    """Σ_l (d_{l-1} + 1) d_l; for sizes d-M-1 without the output bias that is (d + 2) M."""
    sizes = [inputs, *hidden, outputs]
    return sum((m + 1) * n for m, n in pairwise(sizes)) - (0 if output_bias else outputs)


def _per_layer(dropout: float | Sequence[float], layers: int) -> tuple[float, ...]:
    """One probability per hidden layer."""
    each = tuple(dropout) if isinstance(dropout, Sequence) else (dropout,) * layers
    if len(each) != layers:
        raise InputError(
            f"dropout must be one probability, or one for each of the {layers} hidden "
            f"layers, got {dropout}"
        )
    return each


def xor_network() -> MLP:
    """f = 1 - 4 (x₁ + x₂ - 1.5)₊ - 4 (0.5 - x₁ - x₂)₊: +1 where XOR holds, else -1 (L 10.1)."""
    model = MLP(2, [2], 1)
    model.load_state_dict(
        {
            "layers.0.weight": torch.tensor([[1.0, 1.0], [-1.0, -1.0]]),
            "layers.0.bias": torch.tensor([-1.5, 0.5]),
            "layers.1.weight": torch.tensor([[-4.0, -4.0]]),
            "layers.1.bias": torch.tensor([1.0]),
        }
    )
    return model


def example() -> tuple[MLP, Tensor]:
    """A network with two hidden layers, and five small images."""
    return MLP(16, [8, 8], 3, dropout=0.1), torch.randn(5, 1, 4, 4)

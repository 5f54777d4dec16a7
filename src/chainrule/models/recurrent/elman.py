"""Elman network: the simplest memory, a hidden layer that sees itself one step ago.

    z_t = φ(U z_{t-1} + V x_t + b),   φ = tanh or ReLU
    ∂z_i/∂z_t = ∏_{j=t+1}^{i} Φ_j U,   Φ_j = diag φ'(U z_{j-1} + V x_j + b)
    ‖∂z_i/∂z_t‖₂ ≤ (α σ₁(U))^{i-t},   α = max φ'

so what happened i - t steps ago is forgotten where α σ₁(U) < 1, and may explode above. U starts
orthogonal: σ₁(U) = 1. `backpropagation_through_time` is the gradient written out.

Elman (1990), Cognitive Science 14. Notes: J 5 (which has no b, and prints that the gradient
vanishes if σ₁(U) ≥ 1/α), A 2.3, L "RNN: Basic Architecture".
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier

KERNELS = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}


class Elman(Recurrent):
    """m units that see the input and each other."""

    def __init__(self, inputs: int, width: int, activation: str = "tanh"):
        super().__init__(inputs, width)
        if activation not in KERNELS:
            raise InputError(f"expected the activation tanh or relu, got {activation!r}")
        self.activation = activation
        self.U = nn.Parameter(nn.init.orthogonal_(torch.empty(width, width)))
        self.V = nn.Parameter(torch.randn(width, inputs) / inputs**0.5)
        self.b = nn.Parameter(torch.zeros(width))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        weights = [self.V, self.U, self.b, torch.zeros_like(self.b)]
        kernel = KERNELS[self.activation]
        states, _ = kernel(x, z[None], weights, True, 1, 0.0, self.training, False, True)
        return states, (states,)


class Gradients(NamedTuple):
    """∂ℓ/∂U, ∂ℓ/∂V, ∂ℓ/∂b and ∂ℓ/∂x."""

    U: Float[Tensor, "m m"]
    V: Float[Tensor, "m n"]
    b: Float[Tensor, " m"]
    x: Float[Tensor, "batch steps n"]


def backpropagation_through_time(
    U: Float[Tensor, "m m"],
    V: Float[Tensor, "m n"],
    x: Float[Tensor, "batch steps n"],
    z: Float[Tensor, "batch steps m"],
    gradient: Float[Tensor, "batch steps m"],
) -> Gradients:
    """δ_t = (∂ℓ_t/∂z_t + Uᵀ δ_{t+1}) ⊙ tanh'_t,  ∂ℓ/∂U = Σ_t δ_t z_{t-1}ᵀ,  ∂ℓ/∂V = Σ_t δ_t x_tᵀ.

    z_t are the states of a tanh network from z_0 = 0, `gradient` what each z_t adds to the loss by
    itself; tanh'_t = 1 - z_t².
    """
    delta = torch.zeros_like(z)
    after = torch.zeros_like(z[:, 0])
    for t in reversed(range(x.shape[1])):
        delta[:, t] = after = (gradient[:, t] + after @ U) * (1 - z[:, t] ** 2)
    before = torch.cat([torch.zeros_like(z[:, :1]), z[:, :-1]], 1)
    return Gradients(
        torch.einsum("bti,btj->ij", delta, before),
        torch.einsum("bti,btj->ij", delta, x),
        delta.sum((0, 1)),
        delta @ V,
    )


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units that read six steps and answer with three classes."""
    return SequenceClassifier(Elman(4, 8), 3), torch.randn(5, 6, 4)

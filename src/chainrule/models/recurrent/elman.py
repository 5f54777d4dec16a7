"""Elman network: a hidden layer that also sees its own previous values.

    z_t = φ(U z_{t-1} + V x_t + b)
    ∂z_i/∂z_t = ∏_{j=t+1}^{i} Φ_j U,   Φ_j = diag φ'(U z_{j-1} + V x_j + b)
    ‖∂z_i/∂z_t‖₂ ≤ (α σ₁(U))^{i-t},   α = max φ'

The gradient vanishes where α σ₁(U) < 1 and may explode above 1. φ is tanh or ReLU (α = 1), the
sigmoid (α = 1/4: it vanishes for σ₁(U) < 4) or any other of `nn.activations`. U is initialized
orthogonal, with σ₁(U) = 1. `backpropagation_through_time` is the gradient written out.

Elman (1990), Cognitive Science 14. Notes: J 5 (which has no b, and prints that the gradient
vanishes if σ₁(U) ≥ 1/α), A 2.3, L "RNN: Basic Architecture".
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn import activations

KERNELS = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}


@checked
class Elman(Recurrent):
    """Elman network, the simple recurrent layer.

        z_t = φ(U z_{t-1} + V x_t + b)

    The state is the output z.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units.
        activation: φ, a name from `nn.activations`; torch's kernels make tanh and relu fast.

    >>> import torch
    >>> from chainrule.models.recurrent import Elman
    >>> outputs, state = Elman(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(self, input_size: Count, hidden_size: Count, activation: str = "tanh"):
        super().__init__(input_size, hidden_size)
        self.activation, self.phi = activation, activations.activation(activation)
        self.U = nn.Parameter(nn.init.orthogonal_(torch.empty(hidden_size, hidden_size)))
        self.V = nn.Parameter(torch.randn(hidden_size, input_size) / input_size**0.5)
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        if self.activation in KERNELS:
            weights = [self.V, self.U, self.b, torch.zeros_like(self.b)]
            kernel = KERNELS[self.activation]
            states, _ = kernel(x, z[None], weights, True, 1, 0.0, self.training, False, True)
        else:
            states = self.unroll_steps(x, z)
        return states, (states,)

    def unroll_steps(self, x: Tensor, z: Tensor) -> Tensor:
        """z_1 … z_T, one after the other."""
        states = []
        for u_t in (x @ self.V.T + self.b).unbind(1):
            z = self.phi(torch.addmm(u_t, z, self.U.T))
            states.append(z)
        return torch.stack(states, 1)


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

    Args:
        U: Recurrent weights.
        V: Input weights.
        x: Inputs.
        z: States of a tanh network from z_0 = 0, so that tanh'_t = 1 - z_t².
        gradient: ∂ℓ_t/∂z_t, the direct effect of each state on the loss.
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
    """A classifier of six steps into three classes, with eight units."""
    return SequenceClassifier(Elman(4, 8), 3), torch.randn(5, 6, 4)

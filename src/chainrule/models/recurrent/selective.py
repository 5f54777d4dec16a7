"""Selective state space model: Mamba's recurrence, whose input decides what to keep.

    u_t = SiLU(W x_t + w),   Δ_t = softplus(P u_t + p),   b_t = B u_t,   c_t = C u_t
    H_t = exp(Δ_t A) ⊙ H_{t-1} + (Δ_t ⊙ u_t) b_tᵀ,   A < 0
    y_t = (H_t c_t + d ⊙ u_t) ⊙ SiLU(G x_t + g)

Every unit has N states. A small Δ_t ignores the input and keeps the state; a large Δ_t forgets the
state and takes the input. A = -exp(log A) < 0, so 0 < exp(Δ A) < 1. Initially A_n = -n and Δ lies
between 0.001 and 0.1. `mamba` is the whole block, with its convolution and projections.

Gu and Dao (2023), "Mamba: linear-time sequence modeling with selective state spaces".
Notes: L "RNN: Training" (Mamba).
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.scan import scan

MIN_DELTA, MAX_DELTA = 1e-3, 1e-1  # range of the initial Δ


@checked
class Selective(Recurrent):
    """Selective state space model, the recurrence of Mamba.

        u_t = SiLU(W x_t + w),   Δ_t = softplus(P u_t + p),   b_t = B u_t,   c_t = C u_t
        H_t = exp(Δ_t A) ⊙ H_{t-1} + (Δ_t ⊙ u_t) b_tᵀ
        y_t = (H_t c_t + d ⊙ u_t) ⊙ SiLU(G x_t + g)

    The state is H.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units and of outputs.
        state_size: N, states of each unit.

    >>> import torch
    >>> from chainrule.models.recurrent import Selective
    >>> outputs, state = Selective(4, 8, state_size=16)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8, 16]))
    """

    def __init__(self, input_size: Count, hidden_size: Count, state_size: Count = 8):
        super().__init__(input_size, hidden_size, ((hidden_size, state_size),))
        self.input = initialize(nn.Linear(input_size, hidden_size), "lecun")
        self.gate = initialize(nn.Linear(input_size, hidden_size), "lecun")
        self.delta = initialize(nn.Linear(hidden_size, hidden_size), "normal")
        self.B = initialize(nn.Linear(hidden_size, state_size, bias=False), "lecun")
        self.C = initialize(nn.Linear(hidden_size, state_size, bias=False), "lecun")
        n = torch.arange(1.0, state_size + 1)
        self.log_A = nn.Parameter(n.log().expand(hidden_size, state_size).clone())
        self.d = nn.Parameter(torch.ones(hidden_size))
        with torch.no_grad():
            self.delta.bias.copy_(initial_delta_bias(hidden_size))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (H,) = state
        u = F.silu(self.input(x))
        delta, A = F.softplus(self.delta(u)), -self.log_A.exp()
        y, states = selective_scan(u, delta, A, self.B(u), self.C(u), H)
        return (y + self.d * u) * F.silu(self.gate(x)), (states,)


def selective_scan(
    u: Float[Tensor, "batch steps m"],
    delta: Float[Tensor, "batch steps m"],
    A: Float[Tensor, "m n"],
    b: Float[Tensor, "batch steps n"],
    c: Float[Tensor, "batch steps n"],
    H: Float[Tensor, "batch m n"],
) -> tuple[Float[Tensor, "batch steps m"], Float[Tensor, "batch steps m n"]]:
    """H_t c_t and H_t, where H_t = exp(Δ_t A) ⊙ H_{t-1} + (Δ_t ⊙ u_t) b_tᵀ."""
    a = torch.exp(delta[..., None] * A)
    states = scan(a, (delta * u)[..., None] * b[..., None, :], H)
    return (states @ c[..., None]).squeeze(-1), states


def initial_delta_bias(units: int) -> Tensor:
    """softplus⁻¹ of Δ between 0.001 and 0.1, evenly distributed on a logarithmic scale."""
    delta = torch.empty(units).uniform_(math.log(MIN_DELTA), math.log(MAX_DELTA)).exp()
    return delta + torch.log(-torch.expm1(-delta))


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units of eight states."""
    return SequenceClassifier(Selective(4, 8), 3), torch.randn(5, 6, 4)

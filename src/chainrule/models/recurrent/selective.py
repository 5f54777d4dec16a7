"""Selective state space: Mamba's recurrence, which chooses by its input what to keep.

    u_t = SiLU(W x_t + w),   Δ_t = softplus(P u_t + p),   b_t = B u_t,   c_t = C u_t
    H_t = exp(Δ_t A) ⊙ H_{t-1} + (Δ_t ⊙ u_t) b_tᵀ,   A < 0
    y_t = (H_t c_t + d ⊙ u_t) ⊙ SiLU(G x_t + g)

Every unit has N states; a small Δ_t passes over the input and keeps the state, a large one forgets
and takes it in. A = -exp(log A) < 0, so 0 < exp(Δ A) < 1 always. It starts with A_n = -n and with Δ
from 0.001 to 0.1. Mamba's short convolution in front of the recurrence is left out.

Gu and Dao (2023), "Mamba: linear-time sequence modeling with selective state spaces".
Notes: L "RNN: Training" (Mamba).
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize
from chainrule.nn.scan import scan

FINEST, COARSEST = 1e-3, 1e-1  # Δ at the start


class Selective(Recurrent):
    """m units with N states each."""

    def __init__(self, inputs: int, width: int, per_unit: int = 8):
        super().__init__(inputs, width, ((width, per_unit),))
        self.input = initialize(nn.Linear(inputs, width), "lecun")
        self.gate = initialize(nn.Linear(inputs, width), "lecun")
        self.step = initialize(nn.Linear(width, width), "normal")
        self.write = initialize(nn.Linear(width, per_unit, bias=False), "lecun")
        self.read = initialize(nn.Linear(width, per_unit, bias=False), "lecun")
        n = torch.arange(1.0, per_unit + 1)
        self.log_A = nn.Parameter(n.log().expand(width, per_unit).clone())
        self.d = nn.Parameter(torch.ones(width))
        with torch.no_grad():
            delta = torch.empty(width).uniform_(math.log(FINEST), math.log(COARSEST)).exp()
            self.step.bias.copy_(delta + torch.log(-torch.expm1(-delta)))  # softplus⁻¹

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (H,) = state
        u = F.silu(self.input(x))
        delta = F.softplus(self.step(u))
        a = torch.exp(delta[..., None] * -self.log_A.exp())
        states = scan(a, (delta * u)[..., None] * self.write(u)[..., None, :], H)
        y = (states @ self.read(u)[..., None]).squeeze(-1) + self.d * u
        return y * F.silu(self.gate(x)), (states,)


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units of eight states that read six steps and answer with three classes."""
    return SequenceClassifier(Selective(4, 8), 3), torch.randn(5, 6, 4)

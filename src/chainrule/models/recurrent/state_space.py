"""Diagonal state space: a linear differential equation, sampled in steps that are learned.

    h'(t) = A h(t) + B x(t),   A = diag(-exp α + i ω),   y(t) = 2 Re(C h(t)) + D x(t)
    h_t = Ā ⊙ h_{t-1} + B̄ x_t,   Ā = exp(ΔA),   B̄ = (Ā - 1) / A ⊙ B

the exact solution for an input that is constant between two steps. Re A < 0, so |Ā| < 1 always.
It starts with A_n = -1/2 + iπn (S4D-Lin, which follows the HiPPO matrix) and Δ from 0.001 to 0.1.
As in S5 one state serves all inputs and outputs; each of its complex numbers stands for a
conjugate pair.

Gu, Gupta, Goel and Ré (2022), NeurIPS (S4D); Smith, Warrington and Linderman (2023), ICLR (S5).
Notes: L "RNN: Training" (S4, S5).
"""

import math

import torch
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.scan import scan

FINEST, COARSEST = 1e-3, 1e-1  # Δ at the start


class StateSpace(Recurrent):
    """`pairs` conjugate pairs of states, as many as outputs unless said otherwise."""

    complex_state = True

    def __init__(self, inputs: int, width: int, pairs: int = 0):
        pairs = pairs or width
        super().__init__(inputs, width, ((pairs,),))
        self.alpha = nn.Parameter(torch.full((pairs,), math.log(0.5)))
        self.omega = nn.Parameter(math.pi * torch.arange(float(pairs)))
        self.log_delta = nn.Parameter(
            torch.empty(pairs).uniform_(math.log(FINEST), math.log(COARSEST))
        )
        self.B = nn.Parameter(torch.randn(2, pairs, inputs) / (2 * inputs) ** 0.5)
        self.C = nn.Parameter(torch.randn(2, width, pairs) / (2 * pairs) ** 0.5)
        self.D = nn.Parameter(torch.randn(width, inputs) / inputs**0.5)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        A_bar, ratio = discretized(
            torch.complex(-self.alpha.exp(), self.omega), self.log_delta.exp()
        )
        u = torch.complex(x @ self.B[0].T, x @ self.B[1].T)
        states = scan(A_bar, ratio * u, h)
        y = states.real @ self.C[0].T - states.imag @ self.C[1].T
        return 2 * y + x @ self.D.T, (states,)


def discretized(A: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
    """Ā = exp(ΔA) and (Ā - 1) / A."""
    A_bar = torch.exp(delta * A)
    return A_bar, torch.expm1(delta * A) / A


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight pairs of states that read six steps and answer with three classes."""
    return SequenceClassifier(StateSpace(4, 8), 3), torch.randn(5, 6, 4)

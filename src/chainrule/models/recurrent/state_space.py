"""Diagonal state space model: a linear differential equation, sampled with learned step sizes.

    h'(t) = A h(t) + B x(t),   A = diag(-exp α + i ω),   y(t) = 2 Re(C h(t)) + D x(t)
    h_t = Ā ⊙ h_{t-1} + B̄ x_t,   Ā = exp(ΔA),   B̄ = (Ā - 1) / A ⊙ B

This is the exact solution for an input that is constant between two steps. Re A < 0, so |Ā| < 1. A
is initialized to A_n = -1/2 + iπn (S4D-Lin, which follows the HiPPO matrix), Δ from 0.001 to 0.1.
As in S5, one state serves all inputs and outputs; each complex number stands for a conjugate pair.

Gu, Gupta, Goel and Ré (2022), NeurIPS (S4D); Smith, Warrington and Linderman (2023), ICLR (S5).
Notes: L "RNN: Training" (S4, S5).
"""

import math

import torch
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.kernels.complex_pairs import complex_product, real_product
from chainrule.nn.kernels.scan import scan

MIN_DELTA, MAX_DELTA = 1e-3, 1e-1  # range of the initial Δ


@checked
class StateSpace(Recurrent):
    """Diagonal state space model (S4D, S5), stable for any parameters.

        A   = diag(-exp α + i ω),   Ā = exp(ΔA),   B̄ = (Ā - 1) / A ⊙ B
        h_t = Ā ⊙ h_{t-1} + B̄ x_t
        y_t = 2 Re(C h_t) + D x_t

    The state is h, complex.

    Args:
        input_size: Features of each step.
        hidden_size: Number of outputs.
        state_size: Conjugate pairs in the state; hidden_size by default.

    >>> import torch
    >>> from chainrule.models.recurrent import StateSpace
    >>> outputs, state = StateSpace(4, 8, state_size=16)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 16]))
    """

    complex_state = True

    def __init__(self, input_size: Count, hidden_size: Count, state_size: Count | None = None):
        n = hidden_size if state_size is None else state_size
        super().__init__(input_size, hidden_size, ((n,),))
        self.alpha = nn.Parameter(torch.full((n,), math.log(0.5)))
        self.omega = nn.Parameter(math.pi * torch.arange(float(n)))
        self.log_delta = nn.Parameter(
            torch.empty(n).uniform_(math.log(MIN_DELTA), math.log(MAX_DELTA))
        )
        self.B = nn.Parameter(torch.randn(2, n, input_size) / (2 * input_size) ** 0.5)
        self.C = nn.Parameter(torch.randn(2, hidden_size, n) / (2 * n) ** 0.5)
        self.D = nn.Parameter(torch.randn(hidden_size, input_size) / input_size**0.5)

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        A = torch.complex(-self.alpha.exp(), self.omega)
        A_bar, ratio = discretize(A, self.log_delta.exp())
        states = scan(A_bar, ratio * complex_product(self.B, x), h)
        return 2 * real_product(self.C, states) + x @ self.D.T, (states,)


def discretize(A: Tensor, delta: Tensor) -> tuple[Tensor, Tensor]:
    """Ā = exp(ΔA) and (Ā - 1) / A."""
    return torch.exp(delta * A), torch.expm1(delta * A) / A


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight pairs of states."""
    return SequenceClassifier(StateSpace(4, 8), 3), torch.randn(5, 6, 4)

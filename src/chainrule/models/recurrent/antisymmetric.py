"""Antisymmetric RNN: a differential equation that neither forgets nor explodes, in Euler's steps.

    h_t = h_{t-1} + ε tanh(M h_{t-1} + V x_t + b),   M = W - Wᵀ - γ I

W - Wᵀ has imaginary eigenvalues, so those of M have the real part -γ: the continuous system is
stable, and its Jacobian diag(tanh') M keeps its eigenvalues' real parts at or below zero. ε is the
length of a step; a small γ makes up for what Euler's method adds.

Chang, Chen, Haber and Chi (2019), ICLR. Notes: L "RNN: Training" (antisymmetric RNNs).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


class Antisymmetric(Recurrent):
    """m units; the state is the output."""

    def __init__(self, inputs: int, width: int, step: float = 0.1, damping: float = 0.01):
        super().__init__(inputs, width)
        self.step, self.damping = step, damping
        self.W = nn.Parameter(torch.randn(width, width) / width**0.5)
        self.V = nn.Parameter(torch.randn(width, inputs) / inputs**0.5)
        self.b = nn.Parameter(torch.zeros(width))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        M = transition(self.W, self.damping).T
        states = []
        for driven in (x @ self.V.T + self.b).unbind(1):
            h = torch.add(h, torch.addmm(driven, h, M).tanh(), alpha=self.step)
            states.append(h)
        together = torch.stack(states, 1)
        return together, (together,)


def transition(W: Float[Tensor, "m m"], damping: float) -> Float[Tensor, "m m"]:
    """M = W - Wᵀ - γ I: every eigenvalue has the real part -γ."""
    return W - W.T - damping * torch.eye(len(W), dtype=W.dtype, device=W.device)


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units that read six steps and answer with three classes."""
    return SequenceClassifier(Antisymmetric(4, 8), 3), torch.randn(5, 6, 4)

"""Lipschitz RNN: a stable linear part and a nonlinear one of bounded slope, in Euler's steps.

    h_t = h_{t-1} + ε (A h_{t-1} + tanh(W h_{t-1} + U x_t + b))
    A = (1 - β) (M_A + M_Aᵀ) + β (M_A - M_Aᵀ) - γ I,   W likewise from M_W

β between 1/2 and 1 turns down the symmetric part, which shrinks and stretches, and turns up the
antisymmetric one, which rotates; γ moves all eigenvalues to the left. tanh is 1-Lipschitz, so the
system h' = A h + tanh(W h + …) forgets its start if σ₁(W) < -λ_max((A + Aᵀ)/2): the paper's
condition for exponential stability, which `is_stable` checks.

Erichson, Azencot, Queiruga, Hodgkinson and Mahoney (2021), ICLR. Notes: L "RNN: Training"
(Lipschitz RNNs).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


class Lipschitz(Recurrent):
    """m units; the state is the output."""

    def __init__(
        self,
        inputs: int,
        width: int,
        step: float = 0.1,
        turning: float = 0.75,
        damping: float = 0.001,
    ):
        super().__init__(inputs, width)
        self.step, self.turning, self.damping = step, turning, damping
        self.M_A = nn.Parameter(0.1 * torch.randn(width, width) / width**0.5)
        self.M_W = nn.Parameter(0.1 * torch.randn(width, width) / width**0.5)
        self.U = nn.Parameter(torch.randn(width, inputs) / inputs**0.5)
        self.b = nn.Parameter(torch.zeros(width))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        A, W = (transition(M, self.turning, self.damping).T for M in (self.M_A, self.M_W))
        linear = torch.eye(len(A), dtype=x.dtype, device=x.device) + self.step * A
        states = []
        for driven in (x @ self.U.T + self.b).unbind(1):
            h = torch.add(h @ linear, torch.addmm(driven, h, W).tanh(), alpha=self.step)
            states.append(h)
        together = torch.stack(states, 1)
        return together, (together,)


def transition(M: Float[Tensor, "m m"], turning: float, damping: float) -> Float[Tensor, "m m"]:
    """(1 - β) (M + Mᵀ) + β (M - Mᵀ) - γ I."""
    one = torch.eye(len(M), dtype=M.dtype, device=M.device)
    return (1 - turning) * (M + M.T) + turning * (M - M.T) - damping * one


def is_stable(A: Float[Tensor, "m m"], W: Float[Tensor, "m m"]) -> bool:
    """σ₁(W) < -λ_max((A + Aᵀ)/2): two states under the same inputs come together."""
    return bool(torch.linalg.matrix_norm(W, 2) < -torch.linalg.eigvalsh((A + A.T) / 2)[-1])


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units that read six steps and answer with three classes."""
    return SequenceClassifier(Lipschitz(4, 8), 3), torch.randn(5, 6, 4)

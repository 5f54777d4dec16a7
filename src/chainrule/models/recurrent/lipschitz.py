"""Lipschitz RNN: a linear part and a 1-Lipschitz nonlinear part, discretized by Euler's method.

    h_t = h_{t-1} + ε (A h_{t-1} + tanh(W h_{t-1} + U x_t + b))
    A = (1 - β) (M_A + M_Aᵀ) + β (M_A - M_Aᵀ) - γ I,   W likewise from M_W

β from 1/2 to 1 reduces the symmetric part, which stretches and shrinks, in favor of the
antisymmetric part, which rotates; γ shifts all eigenvalues to the left. Since tanh is 1-Lipschitz,
h' = A h + tanh(W h + …) forgets its initial state exponentially if σ₁(W) < -λ_max((A + Aᵀ)/2), the
paper's condition, which `is_stable` checks.

Erichson, Azencot, Queiruga, Hodgkinson and Mahoney (2021), ICLR. Notes: L "RNN: Training"
(Lipschitz RNNs).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Finite, Positive, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


@checked
class Lipschitz(Recurrent):
    """Lipschitz RNN, with a linear and a bounded nonlinear part.

        h_t = h_{t-1} + ε (A h_{t-1} + tanh(W h_{t-1} + U x_t + b))
        A   = (1 - β) (M_A + M_Aᵀ) + β (M_A - M_Aᵀ) - γ I,   W likewise from M_W

    The state is the output h.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units.
        step_size: ε, the step of Euler's method.
        antisymmetry: β, the weight of the antisymmetric part, from 0 to 1.
        damping: γ, subtracted from every eigenvalue.

    >>> import torch
    >>> from chainrule.models.recurrent import Lipschitz
    >>> outputs, state = Lipschitz(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(
        self,
        input_size: Count,
        hidden_size: Count,
        step_size: Positive = 0.1,
        antisymmetry: Finite = 0.75,
        damping: Finite = 0.001,
    ):
        super().__init__(input_size, hidden_size)
        self.step_size, self.antisymmetry, self.damping = step_size, antisymmetry, damping
        self.M_A = nn.Parameter(0.1 * torch.randn(hidden_size, hidden_size) / hidden_size**0.5)
        self.M_W = nn.Parameter(0.1 * torch.randn(hidden_size, hidden_size) / hidden_size**0.5)
        self.U = nn.Parameter(torch.randn(hidden_size, input_size) / input_size**0.5)
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        A, W = (transition(M, self.antisymmetry, self.damping).T for M in (self.M_A, self.M_W))
        linear = torch.eye(len(A), dtype=x.dtype, device=x.device) + self.step_size * A
        states = []
        for u_t in (x @ self.U.T + self.b).unbind(1):
            h = torch.add(h @ linear, torch.addmm(u_t, h, W).tanh(), alpha=self.step_size)
            states.append(h)
        outputs = torch.stack(states, 1)
        return outputs, (outputs,)


def transition(
    M: Float[Tensor, "m m"], antisymmetry: float, damping: float
) -> Float[Tensor, "m m"]:
    """(1 - β) (M + Mᵀ) + β (M - Mᵀ) - γ I."""
    identity = torch.eye(len(M), dtype=M.dtype, device=M.device)
    return (1 - antisymmetry) * (M + M.T) + antisymmetry * (M - M.T) - damping * identity


def is_stable(A: Float[Tensor, "m m"], W: Float[Tensor, "m m"]) -> bool:
    """σ₁(W) < -λ_max((A + Aᵀ)/2): under the same inputs, any two states converge."""
    return bool(torch.linalg.matrix_norm(W, 2) < -torch.linalg.eigvalsh((A + A.T) / 2)[-1])


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units."""
    return SequenceClassifier(Lipschitz(4, 8), 3), torch.randn(5, 6, 4)

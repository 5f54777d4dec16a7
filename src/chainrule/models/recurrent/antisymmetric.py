"""Antisymmetric RNN: a stable differential equation, discretized by Euler's method.

    h_t = h_{t-1} + ε tanh(M h_{t-1} + V x_t + b),   M = W - Wᵀ - γ I

The eigenvalues of W - Wᵀ are imaginary, so those of M have the real part -γ, and the eigenvalues of
the Jacobian diag(tanh') M have real parts at or below zero: the continuous system neither explodes
nor forgets quickly. A small damping γ makes up for the growth that Euler's steps of size ε add.

Chang, Chen, Haber and Chi (2019), ICLR. Notes: L "RNN: Training" (antisymmetric RNNs).
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, Finite, Positive, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier


@checked
class Antisymmetric(Recurrent):
    """Antisymmetric RNN, a stable recurrence for any weights.

        h_t = h_{t-1} + ε tanh((W - Wᵀ - γ I) h_{t-1} + V x_t + b)

    The state is the output h.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units.
        step_size: ε, the step of Euler's method.
        damping: γ, subtracted from the real part of every eigenvalue.

    >>> import torch
    >>> from chainrule.models.recurrent import Antisymmetric
    >>> outputs, state = Antisymmetric(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(
        self,
        input_size: Count,
        hidden_size: Count,
        step_size: Positive = 0.1,
        damping: Finite = 0.01,
    ):
        super().__init__(input_size, hidden_size)
        self.step_size, self.damping = step_size, damping
        self.W = nn.Parameter(torch.randn(hidden_size, hidden_size) / hidden_size**0.5)
        self.V = nn.Parameter(torch.randn(hidden_size, input_size) / input_size**0.5)
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (h,) = state
        M = transition(self.W, self.damping).T
        states = []
        for v_t in (x @ self.V.T + self.b).unbind(1):
            h = torch.add(h, torch.addmm(v_t, h, M).tanh(), alpha=self.step_size)
            states.append(h)
        outputs = torch.stack(states, 1)
        return outputs, (outputs,)


def transition(W: Float[Tensor, "m m"], damping: float) -> Float[Tensor, "m m"]:
    """M = W - Wᵀ - γ I; every eigenvalue has the real part -γ."""
    return W - W.T - damping * torch.eye(len(W), dtype=W.dtype, device=W.device)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units."""
    return SequenceClassifier(Antisymmetric(4, 8), 3), torch.randn(5, 6, 4)

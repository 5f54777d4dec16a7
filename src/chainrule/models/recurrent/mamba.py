"""Mamba block: a short causal convolution, a selective state space model, and a gate.

    [u, g]_t = W x_t                                      in-projection to 2 × inner units
    u'_t = SiLU(Σ_{j=0}^{k-1} K_j ⊙ u_{t-j} + κ)          depthwise convolution over k steps
    [r, b, c]_t = P u'_t,   Δ_t = softplus(Q r_t + q)     step sizes from a low rank r
    H_t = exp(Δ_t A) ⊙ H_{t-1} + (Δ_t ⊙ u'_t) b_tᵀ        A = -exp(log A) < 0
    y_t = V ((H_t c_t + d ⊙ u'_t) ⊙ SiLU(g_t))            out-projection

`selective` is the recurrence alone, without convolution and projections. The state holds H and the
last k - 1 values of u, so that a sequence may be fed in chunks. Initially A_n = -n, Δ lies between
0.001 and 0.1, and `nn.scan` computes all steps together.

Gu and Dao (2023), "Mamba: linear-time sequence modeling with selective state spaces".
Notes: L "RNN: Training" (Mamba).
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.arguments import Count, TwoOrMore, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.selective import initial_delta_bias, selective_scan
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize

EXPANSION = 2  # inner units, in multiples of hidden_size
RANK_SHARE = 16  # the rank of Δ is hidden_size / 16, rounded up


@checked
class Mamba(Recurrent):
    """Mamba's block: convolution, selective state space model, gate.

        u'_t = SiLU(convolution of u over the last k steps),   [u, g]_t = W x_t
        H_t = exp(Δ_t A) ⊙ H_{t-1} + (Δ_t ⊙ u'_t) b_tᵀ,        Δ_t, b_t, c_t from u'_t
        y_t = V ((H_t c_t + d ⊙ u'_t) ⊙ SiLU(g_t))

    The state is (H, the last k - 1 values of u).

    Args:
        input_size: Features of each step.
        hidden_size: Number of outputs; there are twice as many inner units.
        state_size: States of each inner unit.
        kernel_size: k, steps seen by the convolution, two or more.

    >>> import torch
    >>> from chainrule.models.recurrent import Mamba
    >>> outputs, (H, window) = Mamba(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, H.shape, window.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 16, 16]), torch.Size([2, 3, 16]))
    """

    def __init__(
        self,
        input_size: Count,
        hidden_size: Count,
        state_size: Count = 16,
        kernel_size: TwoOrMore = 4,
    ):
        inner, rank = EXPANSION * hidden_size, math.ceil(hidden_size / RANK_SHARE)
        super().__init__(input_size, hidden_size, ((inner, state_size), (kernel_size - 1, inner)))
        self.input = initialize(nn.Linear(input_size, 2 * inner, bias=False), "lecun")
        self.convolution = nn.Conv1d(inner, inner, kernel_size, groups=inner)
        self.selection = initialize(nn.Linear(inner, rank + 2 * state_size, bias=False), "lecun")
        self.delta = initialize(nn.Linear(rank, inner), "lecun")
        n = torch.arange(1.0, state_size + 1)
        self.log_A = nn.Parameter(n.log().expand(inner, state_size).clone())
        self.d = nn.Parameter(torch.ones(inner))
        self.output = initialize(nn.Linear(inner, hidden_size, bias=False), "lecun")
        with torch.no_grad():
            self.delta.bias.copy_(initial_delta_bias(inner))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        H, window = state
        u, gate = self.input(x).chunk(2, 2)
        seen = torch.cat([window, u], 1)
        u = F.silu(self.convolution(seen.transpose(1, 2)).transpose(1, 2))
        n = self.log_A.shape[1]
        low, b, c = self.selection(u).split([self.delta.in_features, n, n], 2)
        y, states = selective_scan(u, F.softplus(self.delta(low)), -self.log_A.exp(), b, c, H)
        windows = seen.unfold(1, window.shape[1], 1)[:, 1:].transpose(2, 3)
        return self.output((y + self.d * u) * F.silu(gate)), (states, windows)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight outputs."""
    return SequenceClassifier(Mamba(4, 8, state_size=4), 3), torch.randn(5, 6, 4)

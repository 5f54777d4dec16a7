"""minLSTM: an LSTM whose gates depend on the input only, so that it can be scanned.

    f_t = σ(F x_t + f),   i_t = σ(G x_t + g)
    z_t = f_t / (f_t + i_t) ⊙ z_{t-1} + i_t / (f_t + i_t) ⊙ (V x_t + v)

The two coefficients add up to one, so z keeps its scale; there is no output gate. It is computed as
f / (f + i) = σ(log f - log i), which cannot overflow. The biases are initialized to the half-lives
of `min_gru`.

Feng et al. (2024), "Were RNNs all we needed?". Notes: J 5.2.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.min_gru import gate_logit, half_lives
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.scan import scan


@checked
class MinLSTM(Recurrent):
    """minLSTM, a linear recurrence with normalized forget and input gates.

        f_t = σ(F x_t + f),   i_t = σ(G x_t + g)
        z_t = (f_t ⊙ z_{t-1} + i_t ⊙ (V x_t + v)) / (f_t + i_t)

    The state is the output z.

    Args:
        input_size: Features of each step.
        hidden_size: Number of cells.

    >>> import torch
    >>> from chainrule.models.recurrent import MinLSTM
    >>> outputs, state = MinLSTM(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size)
        self.forget = initialize(nn.Linear(input_size, hidden_size), "lecun")
        self.input = initialize(nn.Linear(input_size, hidden_size), "lecun")
        self.candidate = initialize(nn.Linear(input_size, hidden_size), "lecun")
        with torch.no_grad():
            logit = gate_logit(half_lives(hidden_size))
            self.forget.bias.copy_(logit)
            self.input.bias.copy_(-logit)  # log σ(k) - log σ(-k) = k

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        logit = F.logsigmoid(self.forget(x)) - F.logsigmoid(self.input(x))
        states = scan(logit.sigmoid(), (-logit).sigmoid() * self.candidate(x), z)
        return states, (states,)


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight cells."""
    return SequenceClassifier(MinLSTM(4, 8), 3), torch.randn(5, 6, 4)

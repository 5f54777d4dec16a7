"""minLSTM: an LSTM whose gates do not look at the state, so that it can be scanned.

    f_t = σ(F x_t + f),   i_t = σ(G x_t + g)
    z_t = f_t / (f_t + i_t) ⊙ z_{t-1} + i_t / (f_t + i_t) ⊙ (V x_t + v)

The two shares add up to one, so z keeps its scale; there is no output gate. Since f / (f + i) =
σ(log f - log i), nothing can overflow. The biases start such that the units have the half-lives of
`min_gru`.

Feng et al. (2024), "Were RNNs all we needed?". Notes: J 5.2.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.models.recurrent.min_gru import half_lives, keeping
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize
from chainrule.nn.scan import scan


class MinLSTM(Recurrent):
    """m cells; the state is the output."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width)
        self.forget = initialize(nn.Linear(inputs, width), "lecun")
        self.input = initialize(nn.Linear(inputs, width), "lecun")
        self.candidate = initialize(nn.Linear(inputs, width), "lecun")
        with torch.no_grad():
            kept = keeping(half_lives(width))
            self.forget.bias.copy_(kept)
            self.input.bias.copy_(-kept)  # log σ(k) - log σ(-k) = k

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        kept = F.logsigmoid(self.forget(x)) - F.logsigmoid(self.input(x))
        states = scan(kept.sigmoid(), (-kept).sigmoid() * self.candidate(x), z)
        return states, (states,)


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight cells that read six steps and answer with three classes."""
    return SequenceClassifier(MinLSTM(4, 8), 3), torch.randn(5, 6, 4)

"""minGRU: a GRU whose gate and candidate depend on the input only, so that it can be scanned.

    s_t = σ(G x_t + g)
    z_t = s_t ⊙ z_{t-1} + (1 - s_t) ⊙ (V x_t + v)

The recurrence is linear in z: `nn.scan` computes all steps together. The biases g are initialized
so that the half-lives of the units run from 1 step to 1,000 on a logarithmic scale.

Feng et al. (2024), "Were RNNs all we needed?", whose gate is 1 - s. Notes: J 5.2.
"""

import torch
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.scan import scan

MAX_HALF_LIFE = 1000.0  # steps after which the slowest unit has forgotten half


@checked
class MinGRU(Recurrent):
    """minGRU, a linear recurrence with an input-dependent gate.

        s_t = σ(G x_t + g)
        z_t = s_t ⊙ z_{t-1} + (1 - s_t) ⊙ (V x_t + v)

    The state is the output z.

    Args:
        input_size: Features of each step.
        hidden_size: Number of units.

    >>> import torch
    >>> from chainrule.models.recurrent import MinGRU
    >>> outputs, state = MinGRU(4, 8)(torch.zeros(2, 5, 4))
    >>> outputs.shape, state.shape
    (torch.Size([2, 5, 8]), torch.Size([2, 8]))
    """

    def __init__(self, input_size: Count, hidden_size: Count):
        super().__init__(input_size, hidden_size)
        self.gate = initialize(nn.Linear(input_size, hidden_size), "lecun")
        self.candidate = initialize(nn.Linear(input_size, hidden_size), "lecun")
        with torch.no_grad():
            self.gate.bias.copy_(gate_logit(half_lives(hidden_size)))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        logit = self.gate(x)
        states = scan(logit.sigmoid(), (-logit).sigmoid() * self.candidate(x), z)
        return states, (states,)


def half_lives(units: int) -> Tensor:
    """1 to 1,000 steps, evenly spaced on a logarithmic scale."""
    return torch.logspace(0, torch.tensor(MAX_HALF_LIFE).log10().item(), units)


def gate_logit(half_life: Tensor) -> Tensor:
    """The logit of the gate s with s^half_life = 1/2."""
    return torch.logit(0.5 ** (1 / half_life))


def example() -> tuple[SequenceClassifier, Tensor]:
    """A classifier of six steps into three classes, with eight units."""
    return SequenceClassifier(MinGRU(4, 8), 3), torch.randn(5, 6, 4)

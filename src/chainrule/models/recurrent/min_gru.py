"""minGRU: a GRU whose gate and candidate do not look at the state, so that it can be scanned.

    s_t = σ(G x_t + g)
    z_t = s_t ⊙ z_{t-1} + (1 - s_t) ⊙ (V x_t + v)

The recurrence is linear in z: all steps are computed together by `nn.scan`. The biases g start
such that the units' half-lives run from 1 step to 1,000, evenly on a logarithmic scale.

Feng et al. (2024), "Were RNNs all we needed?", whose gate is 1 - s. Notes: J 5.2.
"""

import torch
from torch import Tensor, nn

from chainrule.models.recurrent.recurrent import Recurrent
from chainrule.models.recurrent.sequence_classifier import SequenceClassifier
from chainrule.nn.initialization import initialize
from chainrule.nn.scan import scan

LONGEST = 1000.0  # steps after which the slowest unit has forgotten half


class MinGRU(Recurrent):
    """m units; the state is the output."""

    def __init__(self, inputs: int, width: int):
        super().__init__(inputs, width)
        self.gate = initialize(nn.Linear(inputs, width), "lecun")
        self.candidate = initialize(nn.Linear(inputs, width), "lecun")
        with torch.no_grad():
            self.gate.bias.copy_(keeping(half_lives(width)))

    def unroll(self, x: Tensor, *state: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        (z,) = state
        kept = self.gate(x)
        states = scan(kept.sigmoid(), (-kept).sigmoid() * self.candidate(x), z)
        return states, (states,)


def half_lives(units: int) -> Tensor:
    """1 to 1,000 steps, evenly on a logarithmic scale."""
    return torch.logspace(0, torch.tensor(LONGEST).log10().item(), units)


def keeping(half_life: Tensor) -> Tensor:
    """The logit of the share s that is kept each step: s^half_life = 1/2."""
    return torch.logit(0.5 ** (1 / half_life))


def example() -> tuple[SequenceClassifier, Tensor]:
    """Eight units that read six steps and answer with three classes."""
    return SequenceClassifier(MinGRU(4, 8), 3), torch.randn(5, 6, 4)

"""Ensemble: the mean opinion of networks that started from different random weights.

    p(y | x) = 1/K Σ_k softmax(f_k(x))_y,        f(x) = log p(· | x)

For real outputs the mean of the outputs. Squared loss and cross-entropy of the mean are never above
the mean loss of the members, since both are convex (Jensen).

Hansen and Salamon (1990), IEEE PAMI 12(10). Notes: L "Tuning and model selection".
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.models.feedforward.mlp import MLP


class Ensemble(nn.Module):
    """K networks and their mean; `classes` tells logits from real outputs."""

    def __init__(self, members: Sequence[nn.Module], classes: bool = True):
        super().__init__()
        self.members = nn.ModuleList(members)
        self.mean = mean_opinion if classes else mean_output

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        """Log-probabilities, or the mean output."""
        return self.mean(torch.stack([member(x) for member in self.members]))


def mean_opinion(f: Float[Tensor, "members batch classes"]) -> Float[Tensor, "batch classes"]:
    """log 1/K Σ_k softmax(f_k)."""
    return f.log_softmax(-1).logsumexp(0) - math.log(len(f))


def mean_output(f: Float[Tensor, "members batch outputs"]) -> Float[Tensor, "batch outputs"]:
    """1/K Σ_k f_k."""
    return f.mean(0)


def example() -> tuple[Ensemble, Tensor]:
    """Three small networks, and five inputs."""
    return Ensemble([MLP(4, [6], 3) for _ in range(3)]), torch.randn(5, 4)

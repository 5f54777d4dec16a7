"""Ensemble: the mean prediction of networks that differ in their initial weights.

    p(y | x) = 1/K Σ_k softmax(f_k(x))_y,        f(x) = log p(· | x)

In regression f is the mean of the outputs. Squared loss and cross-entropy are convex, so the loss
of the mean never exceeds the mean loss of the members (Jensen).

Hansen and Salamon (1990), IEEE PAMI 12(10). Notes: L "Tuning and model selection".
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.models.feedforward.mlp import MLP


@checked
class Ensemble(nn.Module):
    """K networks and their mean prediction.

        f(x) = log 1/K Σ_k softmax(f_k(x))        classification
        f(x) = 1/K Σ_k f_k(x)                     regression

    Args:
        members: The networks f_k.
        classification: Whether their outputs are logits, of which the probabilities are averaged.

    Example:
        >>> import torch
        >>> from chainrule.models.feedforward import MLP
        >>> model = Ensemble([MLP(4, [6], 3) for _ in range(5)])
        >>> model(torch.zeros(2, 4)).exp().sum(1).round(decimals=4).tolist()
        [1.0, 1.0]
    """

    def __init__(self, members: Sequence[nn.Module], classification: bool = True):
        super().__init__()
        self.members = nn.ModuleList(members)
        self.mean = log_mean_probability if classification else mean_output

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch outputs"]:
        """Log-probabilities in classification, the mean output in regression."""
        return self.mean(torch.stack([member(x) for member in self.members]))


def log_mean_probability(
    f: Float[Tensor, "members batch classes"],
) -> Float[Tensor, "batch classes"]:
    """log 1/K Σ_k softmax(f_k)."""
    return f.log_softmax(-1).logsumexp(0) - math.log(len(f))


def mean_output(f: Float[Tensor, "members batch outputs"]) -> Float[Tensor, "batch outputs"]:
    """1/K Σ_k f_k."""
    return f.mean(0)


def example() -> tuple[Ensemble, Tensor]:
    """Three small networks, and five inputs."""
    return Ensemble([MLP(4, [6], 3) for _ in range(3)]), torch.randn(5, 4)

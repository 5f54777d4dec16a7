"""Logistic regression: the probability of one class.

    P(y = 1 | x) = σ(wᵀ x + b),     σ(z) = 1 / (1 + e⁻ᶻ),  y ∈ {0, 1}
    ℓ(w) = -log σ((2y - 1) wᵀ x)
    ∇ℓ   = (σ(wᵀ x) - y) x

`forward` returns the logit wᵀ x + b, from which losses are computed without overflow. In `loss` and
`gradient` b is one more weight, on an input that is always 1.

Berkson (1944), JASA 39; Cox (1958), JRSS B 20. Notes: J 2.1.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked


@checked
class LogisticRegression(nn.Module):
    """A logit per example; the initial probability is one half everywhere.

        P(y = 1 | x) = σ(wᵀ x + b),     f(x) = wᵀ x + b

    Args:
        inputs: Number of inputs; examples of any shape are flattened.

    Example:
        >>> import torch
        >>> model = LogisticRegression(3)
        >>> model(torch.ones(2, 3)).sigmoid().tolist()
        [0.5, 0.5]
    """

    weight_vectors: ClassVar[tuple[str, ...]] = ("weight",)

    def __init__(self, inputs: Count):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs))
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, " batch"]:
        """The logit wᵀ x + b."""
        return x.flatten(1) @ self.weight + self.bias


def loss(
    w: Float[Tensor, " n"], x: Float[Tensor, "batch n"], y: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """-log σ((2y - 1) wᵀ x), one value per example."""
    return -F.logsigmoid((2 * y - 1) * (x @ w))


def gradient(
    w: Float[Tensor, " n"], x: Float[Tensor, "batch n"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch n"]:
    """(σ(wᵀ x) - y) x, one row per example."""
    return ((x @ w).sigmoid() - y)[:, None] * x


def example() -> tuple[LogisticRegression, Tensor]:
    """Random weights, and five inputs."""
    model = LogisticRegression(4)
    nn.init.normal_(model.weight)
    return model, torch.randn(5, 4)

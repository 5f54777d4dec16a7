"""Softmax regression: the probabilities of K classes.

    P(y = k | x) = softmax(W x + b)_k = exp(z_k) / Σ_j exp(z_j),     z = W x + b
    ℓ(W) = -log softmax(W x)_y
    ∇ℓ   = (softmax(W x) - e_y) xᵀ

`forward` returns the K logits z. With K = 2, z_1 - z_0 is the logit of logistic regression.
In `loss` and `gradient` b is one more column of W, on an input that is always 1.

Cox (1966); Bridle (1990), Neurocomputing. Notes: J 2.2, L "Output layer and loss function".
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked


@checked
class SoftmaxRegression(nn.Module):
    """K logits per example; the initial probabilities are equal everywhere.

        P(y = k | x) = softmax(W x + b)_k,     f(x) = W x + b

    Args:
        inputs: Number of inputs; examples of any shape are flattened.
        classes: K.

    Example:
        >>> import torch
        >>> model = SoftmaxRegression(3, classes=4)
        >>> model(torch.ones(1, 3)).softmax(1).tolist()
        [[0.25, 0.25, 0.25, 0.25]]
    """

    def __init__(self, inputs: Count, classes: Count):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(classes, inputs))
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, x: Float[Tensor, "batch *inputs"]) -> Float[Tensor, "batch classes"]:
        """The logits W x + b."""
        return F.linear(x.flatten(1), self.weight, self.bias)


def loss(
    W: Float[Tensor, "classes n"], x: Float[Tensor, "batch n"], y: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """-log softmax(W x)_y, one value per example."""
    return F.cross_entropy(x @ W.T, y, reduction="none")


def gradient(
    W: Float[Tensor, "classes n"], x: Float[Tensor, "batch n"], y: Int[Tensor, " batch"]
) -> Float[Tensor, "batch classes n"]:
    """(softmax(W x) - e_y) xᵀ, one matrix per example."""
    delta = (x @ W.T).softmax(1) - F.one_hot(y, len(W))
    return delta[:, :, None] * x[:, None, :]


def example() -> tuple[SoftmaxRegression, Tensor]:
    """Random weights for three classes, and five inputs."""
    model = SoftmaxRegression(4, classes=3)
    nn.init.normal_(model.weight)
    return model, torch.randn(5, 4)

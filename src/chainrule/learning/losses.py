"""Losses: how wrong an output is, one value per example.

    squared              ½ ‖y - f‖²
    absolute             ‖y - f‖₁
    logistic             -log σ((2y - 1) f)                  y ∈ {0, 1}, f a logit
    cross_entropy        -log softmax(f)_y                   y a class, f the logits
    pixel_cross_entropy  1/P Σ_p -log softmax(f_p)_{y_p}     a class per pixel or point p
    hinge                max(0, 1 - (2y - 1) f)
    pinball              1/Q Σ_τ max(τ (y - f_τ), (τ - 1) (y - f_τ))     f_τ a quantile of y

Averaging, masking and weighting stay with the caller: the engine weights classes, the lab looks at
single examples. Notes: J 2.1, J 2.2, L "Output layer and loss function".
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import checked

Loss = Callable[..., Tensor]


def shaped_like(
    output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *targets"]
) -> Float[Tensor, "batch *targets"]:
    """The output in the shape of its target, as (n,) and (n, 1) mean the same."""
    return output if output.shape == y.shape else output.reshape(y.shape)


@checked
def squared(
    output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *targets"]
) -> Float[Tensor, " batch"]:
    """½ ‖y - f‖²."""
    return 0.5 * (shaped_like(output, y) - y).square().reshape(len(y), -1).sum(1)


@checked
def absolute(
    output: Float[Tensor, "batch *outputs"], y: Float[Tensor, "batch *targets"]
) -> Float[Tensor, " batch"]:
    """‖y - f‖₁."""
    return (shaped_like(output, y) - y).abs().reshape(len(y), -1).sum(1)


@checked
def logistic(output: Float[Tensor, " batch"], y: Int[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    """-log σ((2y - 1) f): the notes' form, without overflow for any logit."""
    return -F.logsigmoid((2 * y - 1) * output)


@checked
def cross_entropy(
    output: Float[Tensor, "batch *classes"], y: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """-log softmax(f)_y; for a model with a single logit the logistic loss, which is the same."""
    if output.ndim == 1:
        return logistic(output, y)
    return F.cross_entropy(output, y, reduction="none")


@checked
def cross_entropy_of_many(
    output: Float[Tensor, "members batch classes"], y: Int[Tensor, "members batch"]
) -> Float[Tensor, "members batch"]:
    """The same of many networks: classes first, so that the kernel runs along the examples."""
    return F.cross_entropy(output.mT, y, reduction="none")


@checked
def uniform_cross_entropy(output: Float[Tensor, "batch classes"]) -> Float[Tensor, " batch"]:
    """-1/K Σ_k log softmax(f)_k: the cross-entropy of a label that could be any class."""
    return output.logsumexp(-1) - output.mean(-1)


@checked
def pixel_cross_entropy(
    output: Float[Tensor, "batch classes *places"], y: Int[Tensor, "batch *places"]
) -> Float[Tensor, " batch"]:
    """1/P Σ_p -log softmax(f_p)_{y_p}: one class for every pixel, or point of a cloud."""
    return F.cross_entropy(output, y, reduction="none").flatten(1).mean(1)


@checked
def token_cross_entropy(
    output: Float[Tensor, "batch steps vocab"], y: Int[Tensor, "batch steps"]
) -> Float[Tensor, ""]:
    """Mean over all tokens of -log softmax(f)_y: one value for the batch."""
    output = output if output.dtype == torch.float64 else output.float()
    return F.cross_entropy(output.flatten(0, 1), y.flatten())


@checked
def hinge(output: Float[Tensor, " batch"], y: Int[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    """max(0, 1 - (2y - 1) f)."""
    return (1 + (1 - 2 * y) * output).clamp_min(0)


@checked
def pinball(
    output: Float[Tensor, "*batch quantiles"],
    y: Float[Tensor, "*batch"],
    quantiles: Sequence[float] = (0.1, 0.5, 0.9),
) -> Float[Tensor, "*batch"]:
    """1/Q Σ_τ max(τ (y - f_τ), (τ - 1) (y - f_τ)): least where f_τ is the τ-quantile of y."""
    tau = torch.tensor(quantiles, dtype=output.dtype, device=output.device)
    missed = y.unsqueeze(-1) - output
    return torch.maximum(tau * missed, (tau - 1) * missed).mean(-1)

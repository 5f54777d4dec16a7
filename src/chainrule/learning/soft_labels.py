"""Soft labels: the class y is replaced by a distribution over the classes.

    e_y ↦ Π_y,     ℓ = -Σ_k Π_yk log softmax(f)_k

Π_yk is the probability that an example labeled y is of class k: row y sums to one (J writes Π e_y,
the columns). Uniform smoothing is Π = (1 - ε) I + ε/K 11ᵀ. Szegedy et al. (2016). Notes: J 8.8.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import Count, Share, checked
from chainrule.errors import InputError
from chainrule.learning.losses import Loss


@checked
def confusion_smoothing(confusion: Float[Tensor, "classes classes"]) -> Loss:
    """The loss -Σ_k Π_yk log softmax(f)_k, one value per example."""
    Pi = check_confusion(confusion)

    def loss(
        output: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"]
    ) -> Float[Tensor, " batch"]:
        if output.shape[1] != len(Pi):
            raise InputError(
                f"confusion has {len(Pi)} classes but the model {output.shape[1]} outputs"
            )
        return soft_cross_entropy(output, Pi.to(output)[y])

    return loss


@checked
def label_smoothing(smoothing: Share) -> Loss:
    """The loss (1 - ε) (-log softmax(f)_y) + ε/K Σ_k -log softmax(f)_k, one value per example."""

    def loss(
        output: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"]
    ) -> Float[Tensor, " batch"]:
        return F.cross_entropy(output, y, reduction="none", label_smoothing=smoothing)

    return loss


@checked
def uniform_confusion(classes: Count, smoothing: Share) -> Float[Tensor, "classes classes"]:
    """Π = (1 - ε) I + ε/K 11ᵀ."""
    return (1 - smoothing) * torch.eye(classes) + smoothing / classes


@checked
def soft_cross_entropy(
    output: Float[Tensor, "batch classes"], p: Float[Tensor, "batch classes"]
) -> Float[Tensor, " batch"]:
    """-Σ_k p_k log softmax(f)_k."""
    return F.cross_entropy(output, p, reduction="none")


def check_confusion(confusion: Tensor) -> Tensor:
    """Π, whose rows must be distributions."""
    Pi = confusion.detach()
    if Pi.ndim != 2 or Pi.shape[0] != Pi.shape[1]:
        raise InputError(
            f"confusion must be a square matrix, one row per class, got {tuple(Pi.shape)}"
        )
    sums = Pi.sum(1)
    if (Pi < 0).any() or not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        raise InputError(
            "every row of confusion must be a distribution; got sums from "
            f"{sums.min():.4g} to {sums.max():.4g} and a smallest entry of {Pi.min():.4g}"
        )
    return Pi

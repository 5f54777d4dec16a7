"""Soft labels: the class y is replaced by a distribution over the classes.

    smoothing             e_y ↦ Π_y,     ℓ = -Σ_k Π_yk log softmax(f)_k
    forward correction    ℓ = -log Σ_k softmax(f)_k Π_ky        y a noisy label, k the true class

By default row y of Π is the distribution that replaces label y, or that of the noisy labels of
class y. J writes Π e_y, column y: pass `labels_are="columns"` for a matrix whose columns sum to
one. Uniform smoothing is Π = (1 - ε) I + ε/K 11ᵀ, the same in both forms. With the Π that made the
noise, the corrected loss is smallest for the probabilities of the true classes.
Szegedy et al. (2016); Patrini et al. (2017). Notes: J 8.8.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import Count, Share, checked
from chainrule.errors import InputError
from chainrule.learning.losses import Loss

LabelsAre = Literal["rows", "columns"]


@checked
def confusion_smoothing(
    confusion: Float[Tensor, "classes classes"], labels_are: LabelsAre = "rows"
) -> Loss:
    """The loss -Σ_k Π_yk log softmax(f)_k, or with Π_ky if labels are columns; per example."""
    Pi = check_confusion(confusion, labels_are)

    def loss(
        output: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"]
    ) -> Float[Tensor, " batch"]:
        check_classes(output, Pi)
        return soft_cross_entropy(output, Pi.to(output)[y])

    return loss


@checked
def forward_correction(
    confusion: Float[Tensor, "classes classes"], labels_are: LabelsAre = "rows"
) -> Loss:
    """The loss -log Σ_k softmax(f)_k Π_ky of noisy labels y, one value per example.

    Row k of Π (or column k, if labels are columns) is the distribution of the noisy labels of
    class k.
    """
    Pi = check_confusion(confusion, labels_are)

    def loss(
        output: Float[Tensor, "batch classes"], y: Int[Tensor, " batch"]
    ) -> Float[Tensor, " batch"]:
        check_classes(output, Pi)
        joint = output.log_softmax(1) + Pi.to(output).log().T[y]
        return -joint.logsumexp(1)

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


def check_classes(output: Tensor, Pi: Tensor) -> None:
    """As many outputs as classes."""
    if output.shape[1] != len(Pi):
        raise InputError(f"confusion has {len(Pi)} classes but the model {output.shape[1]} outputs")


def check_confusion(confusion: Tensor, labels_are: LabelsAre) -> Tensor:
    """Π with a distribution in every row, transposed if they were given as columns."""
    Pi = confusion.detach()
    if Pi.ndim != 2 or Pi.shape[0] != Pi.shape[1]:
        raise InputError(
            f"confusion must be a square matrix, one row per class, got {tuple(Pi.shape)}"
        )
    Pi = Pi if labels_are == "rows" else Pi.T
    sums = Pi.sum(1)
    if (Pi < 0).any() or not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        raise InputError(
            f"every {labels_are.removesuffix('s')} of confusion must be a distribution; got sums "
            f"from {sums.min():.4g} to {sums.max():.4g} and a smallest entry of {Pi.min():.4g}"
        )
    return Pi

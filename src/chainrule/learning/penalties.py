"""Penalties on weight matrices; biases and norms stay free.

    l2   μ/2 Σ ‖W_l‖²_F      (ridge) gradient μ W: shrinks in proportion
    l1   λ Σ ‖W_l‖₁          (lasso) subgradient λ sgn W: shrinks at a constant speed, to zero

A gradient step on l1 jitters about zero; its proximal step lands on it (Daubechies et al. 2004).
Multiply a function by μ or λ and add it to the loss, or call `shrink` with η λ after each step of
the optimizer. Notes: J 8.2 (where ∇ℓ - μ θ should read ∇ℓ + μ θ), L "Weight Decay".
"""

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor


def l2(parameters: Iterable[Tensor]) -> Float[Tensor, ""]:
    """½ Σ ‖W_l‖²_F."""
    return 0.5 * sum((W.square().sum() for W in matrices(parameters)), torch.zeros(()))


def l1(parameters: Iterable[Tensor]) -> Float[Tensor, ""]:
    """Σ ‖W_l‖₁."""
    return sum((W.abs().sum() for W in matrices(parameters)), torch.zeros(()))


def soft_threshold(w: Float[Tensor, "*shape"], threshold: float) -> Float[Tensor, "*shape"]:
    """argmin_u ½ ‖u - w‖² + τ ‖u‖₁ = sgn(w) max(|w| - τ, 0)."""
    return w.sign() * (w.abs() - threshold).clamp_min(0)


@torch.no_grad()
def shrink(parameters: Iterable[Tensor], threshold: float) -> None:
    """W ← sgn(W) max(|W| - τ, 0), in place: the proximal step of l1 for τ = η λ."""
    for W in matrices(parameters):
        W.copy_(soft_threshold(W, threshold))


def matrices(parameters: Iterable[Tensor]) -> list[Tensor]:
    """The parameters with two axes or more."""
    return [p for p in parameters if p.ndim > 1]

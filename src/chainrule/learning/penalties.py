"""Penalties on the weights of a model; biases and normalization gains stay free.

    l2   μ/2 Σ ‖W_l‖²_F      (ridge) gradient μ W: shrinks in proportion
    l1   λ Σ ‖W_l‖₁          (lasso) subgradient λ sgn W: shrinks at a constant speed, to zero

A gradient step on l1 jitters about zero; its proximal step lands on it (Daubechies et al. 2004).
Multiply a penalty by μ or λ and add it to the loss, or call `shrink` with η λ after each step of
the optimizer. Notes: J 8.2 (where ∇ℓ - μ θ should read ∇ℓ + μ θ), L "Weight Decay".
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import NonNegative, checked


@checked
def penalized_parameters(model: nn.Module) -> list[nn.Parameter]:
    """The trainable weights of a model, which decay and lasso act on, in the model's order.

    A parameter with two or more axes is a weight. A vector usually is none (a bias, a gain, a time
    constant), so a module lists those that are in a class attribute `weight_vectors`:

        class LogisticRegression(nn.Module):
            weight_vectors = ("weight",)
    """
    found = {
        p: None
        for module in model.modules()
        for name, p in module.named_parameters(recurse=False)
        if p.requires_grad and (p.ndim > 1 or name in getattr(module, "weight_vectors", ()))
    }
    return list(found)


@checked
def l2(model: nn.Module) -> Float[Tensor, ""]:
    """½ Σ ‖W_l‖²_F."""
    return 0.5 * sum((W.square().sum() for W in penalized_parameters(model)), torch.zeros(()))


@checked
def l1(model: nn.Module) -> Float[Tensor, ""]:
    """Σ ‖W_l‖₁."""
    return sum((W.abs().sum() for W in penalized_parameters(model)), torch.zeros(()))


@checked
def soft_threshold(w: Float[Tensor, "*shape"], threshold: NonNegative) -> Float[Tensor, "*shape"]:
    """argmin_u ½ ‖u - w‖² + τ ‖u‖₁ = sgn(w) max(|w| - τ, 0)."""
    return w.sign() * (w.abs() - threshold).clamp_min(0)


@checked
@torch.no_grad()
def shrink(model: nn.Module, threshold: NonNegative) -> None:
    """W ← sgn(W) max(|W| - τ, 0), in place: the proximal step of l1 for τ = η λ."""
    for W in penalized_parameters(model):
        W.copy_(soft_threshold(W, threshold))

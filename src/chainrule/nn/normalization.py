"""Normalization written out: over the batch, over the units of an example, and of weights.

    batch    f̃ = μ + γ (f - E f) / √(Var f + ε)     E, Var of each unit over the batch, or their
                                                     running averages in evaluation
    layer    the same                                E, Var of each example over its units
    weight   w = γ v / ‖v‖                           length and direction learned separately

Batch and layer normalization equal torch's, whose kernels the models use. After a linear map,
batch normalization is a weight normalization by ‖w‖_Σ, Σ = Cov x (J prints E xxᵀ, the same for
E x = 0). Ioffe and Szegedy (2015), Ba et al. (2016), Salimans and Kingma (2016).
Notes: J 8.5, J 8.6.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.arguments import Count, NonNegative, Share, checked
from chainrule.errors import InputError
from chainrule.shares import SHARE


@checked
class BatchNorm(nn.Module):
    """Each unit (axis 1) standardized over the batch and all further axes, then μ + γ f̄.

        f̃ = μ + γ (f - E f) / √(Var f + ε)

    Args:
        units: Size of axis 1.
        momentum: Weight ρ of a new batch in the running averages.
        eps: ε.
    """

    running_mean: Float[Tensor, " units"]
    running_var: Float[Tensor, " units"]

    def __init__(self, units: Count, momentum: Share = 0.1, eps: NonNegative = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(units))
        self.bias = nn.Parameter(torch.zeros(units))
        self.register_buffer("running_mean", torch.zeros(units))
        self.register_buffer("running_var", torch.ones(units))
        self.momentum, self.eps = momentum, eps

    def forward(self, x: Float[Tensor, "batch units *rest"]) -> Float[Tensor, "batch units *rest"]:
        """The batch's statistics in training, the running ones otherwise."""
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance, number = unit_statistics(x)
            self._update_running(mean.detach(), variance.detach(), number)
        mean, variance, gamma, mu = (
            t.view(-1, *[1] * (x.ndim - 2)) for t in (mean, variance, self.weight, self.bias)
        )
        return mu + gamma * standardized(x, mean, variance, self.eps)

    @torch.no_grad()
    def _update_running(self, mean: Tensor, variance: Tensor, number: int) -> None:
        """r ← (1 - ρ) r + ρ s, with the unbiased variance N/(N - 1) Var."""
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * number / (number - 1), self.momentum)


@checked
class LayerNorm(nn.Module):
    """Each example standardized over its units (the last axis), then μ + γ f̄.

        f̃ = μ + γ (f - E f) / √(Var f + ε)

    Args:
        units: Size of the last axis.
        eps: ε.
    """

    def __init__(self, units: Count, eps: NonNegative = 1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(units))
        self.bias = nn.Parameter(torch.zeros(units))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch units"]) -> Float[Tensor, "*batch units"]:
        """μ + γ (x - E x) / √(Var x + ε)."""
        mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
        return self.bias + self.weight * standardized(x, mean, variance, self.eps)


@checked
class WeightNormLinear(nn.Module):
    """x ↦ W x + b with rows w = γ v / ‖v‖.

    Args:
        layer: Gives the initial W and b.
    """

    def __init__(self, layer: nn.Linear):
        super().__init__()
        v = layer.weight.detach()
        length = v.norm(dim=1)
        if not length.all():
            raise InputError(
                "weight normalization needs rows of weights that are not zero; use another "
                "initialization"
            )
        self.v = nn.Parameter(v.clone())
        self.gamma = nn.Parameter(length)
        self.bias = layer.bias

    @property
    def weight(self) -> Float[Tensor, "m n"]:
        return weight_norm(self.v, self.gamma)

    def forward(self, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch m"]:
        """W x + b."""
        return F.linear(x, self.weight, self.bias)


@checked
def standardized(x: Tensor, mean: Tensor, variance: Tensor, eps: float) -> Tensor:
    """(x - E) / √(Var + ε)."""
    return (x - mean) / (variance + eps).sqrt()


@checked
def unit_statistics(
    x: Float[Tensor, "batch units *rest"],
) -> tuple[Float[Tensor, " units"], Float[Tensor, " units"], int]:
    """Mean and mean square deviation of each unit over the batch, whatever processes share it.

    The third is the number of values of a unit.
    """
    share, number = SHARE.get(), x.numel() // x.shape[1]
    axes = [0, *range(2, x.ndim)]
    if share is not None:
        total, number = share.sum_and_count(x.sum(axes), number)
    if number == 1:
        raise InputError(
            "batch normalization needs at least two values of each unit in training, got one"
        )
    if share is None:
        return x.mean(axes), x.var(axes, correction=0), number
    mean = total / number
    centered = x - mean.view(-1, *[1] * (x.ndim - 2))
    return mean, share.sum(centered.square().sum(axes)) / number, number


@checked
def weight_norm(v: Float[Tensor, "m n"], gamma: Float[Tensor, " m"]) -> Float[Tensor, "m n"]:
    """w = γ v / ‖v‖, row by row."""
    return (gamma / v.norm(dim=1))[:, None] * v


@checked
def weight_norm_gradient(
    v: Float[Tensor, "m n"], gamma: Float[Tensor, " m"], gradient: Float[Tensor, "m n"]
) -> tuple[Float[Tensor, "m n"], Float[Tensor, " m"]]:
    """∂ℓ/∂v = γ/‖v‖ (I - u uᵀ) ∂ℓ/∂w  and  ∂ℓ/∂γ = uᵀ ∂ℓ/∂w,  u = v/‖v‖, given ∂ℓ/∂w."""
    length = v.norm(dim=1, keepdim=True)
    u = v / length
    along = (u * gradient).sum(1, keepdim=True)
    return gamma[:, None] / length * (gradient - along * u), along[:, 0]

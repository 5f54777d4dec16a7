"""A layer shared by all points with batch normalization, and its maximum over the points.

    g_c = max_p φ(N(w_cᵀ h_p)),    N(z) = μ_c + γ_c (z - E z) / √(Var z + ε),    φ = ReLU
        = φ(N(max_p w_cᵀ h_p))                for γ_c ≥ 0; for γ_c < 0 the minimum in its place

The maximum of a unit depends on one point only, its critical point. So the products of all points
with all units are computed without a record for the backward pass, and those of the critical points
once more with it. The mean and variance over all points do not need these products:

    E z = w_cᵀ E h,     Var z = w_cᵀ Cov(h) w_c

Outputs, gradients and running statistics equal those of the plain layer up to rounding.
Qi et al. (2017), PointNet; batch normalization: Ioffe and Szegedy (2015). Notes: J 7.3, J 8.5.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, NonNegative, Share, checked
from chainrule.nn.initialization import initialize
from chainrule.shares import SHARE

CHUNK_SIZE = 16  # clouds whose products with all units are in memory at a time

Points = Float[Tensor, "batch points inputs"]


@checked
class PooledLayer(nn.Module):
    """A linear layer with batch normalization and ReLU, and its maximum over the points.

        g_c = max_p φ(N(w_cᵀ h_p)),   N(z) = μ_c + γ_c (z - E z) / √(Var z + ε)

    Args:
        in_features: Features of a point.
        out_features: Units, each with its maximum over the points.
        momentum: ρ of the running statistics r ← (1 - ρ) r + ρ s.
        eps: ε.

    >>> PooledLayer(3, 8)(torch.randn(4, 10, 3)).shape
    torch.Size([4, 8])
    """

    running_mean: Float[Tensor, " outputs"]
    running_var: Float[Tensor, " outputs"]

    def __init__(
        self,
        in_features: Count,
        out_features: Count,
        momentum: Share = 0.1,
        eps: NonNegative = 1e-5,
    ):
        super().__init__()
        self.linear = initialize(nn.Linear(in_features, out_features, bias=False), "kaiming")
        self.gamma = nn.Parameter(torch.ones(out_features))
        self.mu = nn.Parameter(torch.zeros(out_features))
        self.register_buffer("running_mean", torch.zeros(out_features))
        self.register_buffer("running_var", torch.ones(out_features))
        self.momentum, self.eps = momentum, eps

    def forward(self, h: Points) -> Float[Tensor, "batch outputs"]:
        W = self.linear.weight
        z = (gathered(h, self.critical(h)) * W).sum(-1)
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance, number = statistics(h.flatten(0, 1), W)
            self._update_statistics(mean.detach(), variance.detach(), number)
        return (self.mu + self.gamma * (z - mean) / (variance + self.eps).sqrt()).relu()

    @torch.no_grad()
    def critical(self, h: Points) -> Int[Tensor, "batch outputs"]:
        """argmax_p N(w_cᵀ h_p): the critical point of each unit."""
        signed = self.linear.weight * torch.where(self.gamma < 0, -1, 1)[:, None]
        parts = h.split(CHUNK_SIZE)
        return torch.cat([(signed @ part.transpose(1, 2)).max(-1).indices for part in parts])

    @torch.no_grad()
    def _update_statistics(self, mean: Tensor, variance: Tensor, number: int) -> None:
        """r ← (1 - ρ) r + ρ s, with the unbiased variance N/(N - 1) Var."""
        unbiased = variance * number / max(1, number - 1)
        self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
        self.running_var.mul_(1 - self.momentum).add_(self.momentum * unbiased)


def gathered(
    h: Points, points: Int[Tensor, "batch outputs"]
) -> Float[Tensor, "batch outputs inputs"]:
    """h_{b, p(b, c)} for every cloud b and unit c."""
    rows = points + h.shape[1] * torch.arange(h.shape[0], device=h.device)[:, None]
    return h.flatten(0, 1).index_select(0, rows.flatten()).view(*points.shape, h.shape[2])


def statistics(
    h: Float[Tensor, "points inputs"], W: Float[Tensor, "outputs inputs"]
) -> tuple[Float[Tensor, " outputs"], Float[Tensor, " outputs"], int]:
    """Mean w_cᵀ E h and variance w_cᵀ Cov(h) w_c of every unit, and the number of points."""
    share, number = SHARE.get(), len(h)
    if share is None:
        mean = h.mean(0)
    else:
        total, number = share.sum_and_count(h.sum(0), number)
        mean = total / number
    centered = h - mean
    covariance = centered.T @ centered
    if share is not None:
        covariance = share.sum(covariance)
    covariance = covariance / number
    return W @ mean, ((W @ covariance) * W).sum(1), number

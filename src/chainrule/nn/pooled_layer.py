"""A shared layer with batch normalization and its maximum over points, computed where it matters.

    g_c = max_p φ(N(w_cᵀ h_p)),    N(z) = μ_c + γ_c (z - E z) / √(Var z + ε),    φ = ReLU
        = φ(N(max_p w_cᵀ h_p))                for γ_c ≥ 0; for γ_c < 0 the minimum in its place

A maximum depends on one point only, the critical one of its unit. So the product of all points
with all units is made without a record for the backward pass, and only the critical ones are made
anew with it. The mean and variance over all points need no product with them either:

    E z = w_cᵀ E h,     Var z = w_cᵀ Cov(h) w_c

Outputs, gradients and running statistics are those of the layer written out, but for rounding.
Qi et al. (2017), PointNet; batch normalization: Ioffe and Szegedy (2015). Notes: J 7.3, J 8.5.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.nn.initialization import initialize

AT_ONCE = 16  # clouds whose products with all units are held at a time

Points = Float[Tensor, "batch points inputs"]


class PooledLayer(nn.Module):
    """h ↦ max_p ReLU(N(W h_p)): points (batch, points, inputs) to one vector of `outputs` units."""

    running_mean: Float[Tensor, " outputs"]
    running_var: Float[Tensor, " outputs"]

    def __init__(self, inputs: int, outputs: int, momentum: float = 0.1, eps: float = 1e-5):
        super().__init__()
        self.linear = initialize(nn.Linear(inputs, outputs, bias=False), "kaiming")
        self.gamma = nn.Parameter(torch.ones(outputs))
        self.mu = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("running_mean", torch.zeros(outputs))
        self.register_buffer("running_var", torch.ones(outputs))
        self.momentum, self.eps = momentum, eps

    def forward(self, h: Points) -> Float[Tensor, "batch outputs"]:
        W = self.linear.weight
        z = (chosen(h, self.critical(h)) * W).sum(-1)
        mean, variance = self.running_mean, self.running_var
        if self.training:
            mean, variance = statistics(h.flatten(0, 1), W)
            self._remember(mean.detach(), variance.detach(), h.shape[0] * h.shape[1])
        return (self.mu + self.gamma * (z - mean) / (variance + self.eps).sqrt()).relu()

    @torch.no_grad()
    def critical(self, h: Points) -> Int[Tensor, "batch outputs"]:
        """argmax_p N(w_cᵀ h_p): the number of the point that decides each unit."""
        signed = self.linear.weight * torch.where(self.gamma < 0, -1, 1)[:, None]
        parts = h.split(AT_ONCE)
        return torch.cat([(signed @ part.transpose(1, 2)).max(-1).indices for part in parts])

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor, number: int) -> None:
        """r ← (1 - ρ) r + ρ s, with the unbiased variance N/(N - 1) Var."""
        unbiased = variance * number / max(1, number - 1)
        self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
        self.running_var.mul_(1 - self.momentum).add_(self.momentum * unbiased)


def chosen(
    h: Points, points: Int[Tensor, "batch outputs"]
) -> Float[Tensor, "batch outputs inputs"]:
    """h_{b, p(b, c)} for every cloud b and unit c."""
    rows = points + h.shape[1] * torch.arange(len(h), device=h.device)[:, None]
    return h.flatten(0, 1).index_select(0, rows.flatten()).view(*points.shape, h.shape[2])


def statistics(
    h: Float[Tensor, "points inputs"], W: Float[Tensor, "outputs inputs"]
) -> tuple[Float[Tensor, " outputs"], Float[Tensor, " outputs"]]:
    """Mean w_cᵀ E h and variance w_cᵀ Cov(h) w_c of every unit."""
    mean = h.mean(0)
    centered = h - mean
    covariance = centered.T @ centered / len(h)
    return W @ mean, ((W @ covariance) * W).sum(1)

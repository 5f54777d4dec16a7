"""PointNet: classification of a cloud of points, independent of their order.

    h_p  = A₂ᵀ F₁(A₁ᵀ x_p)                 64 local features of each point
    g    = max_p F₂(h_p)                   1024 global features of the cloud
    f(x) = ρ(g)                            one score per class

The shared MLPs F₁ (64, 64) and F₂ (64, 128, 1024) act on each point separately, with layers
h ↦ φ(N(W h)). A₁ = T₁(x), of size 3 × 3, and A₂ = T₂(F₁(A₁ᵀ x)), of size 64 × 64, align the cloud.
A T-net has the form T(h) = I + ρ_T(max_p F_T(h_p)) and starts at I. The term λ ‖I - A₂ A₂ᵀ‖² in the
training loss, λ = 0.001, keeps A₂ near the orthogonal matrices.

f depends only on the critical points, those that attain some maximum: all others may be left out.
Where a point has more than its position (a normal), A₁ acts on all its vectors.

Qi, Su, Mo and Guibas (2017), CVPR. Notes: J 7.3 (a use of Deep Sets, J 7.2).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.errors import InputError
from chainrule.nn.aux_losses import add_to_loss
from chainrule.nn.chunked import chunked
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.pooled_layer import PooledLayer

PENALTY = 1e-3  # λ of the paper
CHUNK_SIZE = 64  # clouds of a large batch that are evaluated at a time

Points = Float[Tensor, "batch points inputs"]


class Features(NamedTuple):
    """h, g, A₁ and A₂ of a batch of clouds."""

    local_features: Float[Tensor, "batch points 64"]
    global_features: Float[Tensor, "batch features"]
    A_1: Float[Tensor, "batch d d"]
    A_2: Float[Tensor, "batch 64 64"]


@checked
class PointNet(nn.Module):
    """Clouds of points (batch, points, in_features) to logits (batch, num_classes).

        h_p = A₂ᵀ F₁(A₁ᵀ x_p),   g = max_p F₂(h_p),   f(x) = ρ(g)

    Args:
        dimensions: Dimensions of the space, 2 or 3.
        num_classes: Number of classes.
        in_features: Numbers of a point, one or more vectors of the space; by default one.
        features: Global features of a cloud.
        hidden: Widths of the hidden layers of ρ.
        dropout: Dropout probability of the last hidden layer.

    >>> model = PointNet(3, num_classes=5, features=32)
    >>> model(torch.randn(4, 10, 3)).shape
    torch.Size([4, 5])
    """

    def __init__(
        self,
        dimensions: Count,
        num_classes: Count,
        in_features: Count | None = None,
        features: Count = 1024,
        hidden: Sequence[Count] = (512, 256),
        dropout: Rate = 0.3,
    ):
        super().__init__()
        self.features = PointFeatures(dimensions, in_features or dimensions, features)
        self.hidden = shared_mlp(features, *hidden)
        self.output = initialize(nn.Linear([features, *hidden][-1], num_classes), "lecun")
        self.dropout = dropout

    def forward(self, x: Points) -> Float[Tensor, "batch classes"]:
        return chunked(self._scores, x, CHUNK_SIZE, self.training)

    def _scores(self, x: Points) -> Float[Tensor, "batch classes"]:
        """ρ(g)."""
        h = self.hidden(self.features(x).global_features)
        return self.output(dropout(h, self.dropout, self.training))

    def critical_points(self, x: Points) -> Bool[Tensor, "batch points"]:
        """The points that attain a maximum; the output does not depend on the others."""
        return self.features.critical_points(x)


@checked
class PointFeatures(nn.Module):
    """Local and global features of clouds, with the two T-nets.

        h_p = A₂ᵀ F₁(A₁ᵀ x_p),   g = max_p F₂(h_p)

    Args:
        dimensions: Dimensions of the space, 2 or 3.
        in_features: Numbers of a point, one or more vectors of the space.
        features: Global features of a cloud.

    >>> found = PointFeatures(3, 3, features=32)(torch.randn(4, 10, 3))
    >>> found.local_features.shape, found.global_features.shape
    (torch.Size([4, 10, 64]), torch.Size([4, 32]))
    """

    def __init__(self, dimensions: Count, in_features: Count, features: Count):
        super().__init__()
        if in_features % dimensions:
            raise InputError(
                f"expected in_features of one or more vectors of {dimensions} numbers, got "
                f"{in_features}"
            )
        self.dimensions = dimensions
        self.input_transform = TNet(in_features, dimensions, features)
        self.first = shared_mlp(in_features, 64, 64)
        self.feature_transform = TNet(64, 64, features)
        self.second = shared_mlp(64, 64, 128)
        self.pooled = PooledLayer(128, features)

    def forward(self, x: Points) -> Features:
        """h, g, A₁ and A₂; the penalty on A₂ is added to the training loss."""
        A_1 = self.input_transform(x)
        h = pointwise(self.first, transformed(x, A_1))
        A_2 = self.feature_transform(h)
        add_to_loss(PENALTY * orthogonality(A_2))
        local = h @ A_2
        return Features(local, self.pooled(pointwise(self.second, local)), A_1, A_2)

    @torch.no_grad()
    def critical_points(self, x: Points) -> Bool[Tensor, "batch points"]:
        """The points that attain the maximum of a unit, in the T-nets or in g."""
        h = pointwise(self.first, transformed(x, self.input_transform(x)))
        deep = pointwise(self.second, h @ self.feature_transform(h))
        critical = torch.zeros(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer, seen in (
            (self.input_transform.pooled, pointwise(self.input_transform.first, x)),
            (self.feature_transform.pooled, pointwise(self.feature_transform.first, h)),
            (self.pooled, deep),
        ):
            critical.scatter_(1, layer.critical(seen), value=True)
        return critical


@checked
class TNet(nn.Module):
    """T-net: a matrix T(h) = I + ρ(max_p F(h_p)) for a cloud, I at initialization.

    Args:
        in_features: Features of a point.
        size: k of the k × k matrix.
        features: Units of the maximum.

    >>> TNet(3, size=3, features=32)(torch.randn(4, 10, 3)).shape
    torch.Size([4, 3, 3])
    """

    def __init__(self, in_features: Count, size: Count, features: Count):
        super().__init__()
        self.size = size
        self.first = shared_mlp(in_features, 64, 128)
        self.pooled = PooledLayer(128, features)
        self.hidden = shared_mlp(features, 512, 256)
        self.output = nn.Linear(256, size**2)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, h: Points) -> Float[Tensor, "batch k k"]:
        found = self.output(self.hidden(self.pooled(pointwise(self.first, h))))
        identity = torch.eye(self.size, device=h.device, dtype=h.dtype)
        return identity + found.view(-1, self.size, self.size)


def orthogonality(A: Float[Tensor, "batch k k"]) -> Float[Tensor, " batch"]:
    """‖I - A Aᵀ‖²_F."""
    identity = torch.eye(A.shape[1], device=A.device, dtype=A.dtype)
    return (identity - A @ A.transpose(1, 2)).square().sum((1, 2))


def transformed(x: Points, A: Float[Tensor, "batch d d"]) -> Points:
    """Aᵀ v for every vector v of every point."""
    batch, points, inputs = x.shape
    vectors = x.reshape(batch, points * inputs // A.shape[1], A.shape[1])
    return (vectors @ A).view(x.shape)


def pointwise(network: nn.Module, h: Points) -> Float[Tensor, "batch points outputs"]:
    """The network applied to every point; its norms average over the points of all clouds."""
    return network(h.flatten(0, 1)).unflatten(0, h.shape[:2])


def shared_mlp(*sizes: int) -> nn.Sequential:
    """h ↦ φ(N(W h)) from each size to the next."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        linear = initialize(nn.Linear(inputs, outputs, bias=False), "kaiming")
        parts += [linear, nn.BatchNorm1d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


def example() -> tuple[PointNet, Tensor]:
    """32 global features for four clouds of ten points with their normals."""
    return PointNet(3, num_classes=5, in_features=6, features=32), torch.randn(4, 10, 6)

"""PointNet: the class of a cloud of points, in whatever order they come.

    h_p  = A₂ᵀ F₁(A₁ᵀ x_p)                 64 local features of each point
    g    = max_p F₂(h_p)                   1024 global features of the cloud
    f(x) = ρ(g)                            one score per class

F₁ (64, 64) and F₂ (64, 128, 1024) act on every point alike, each layer h ↦ φ(N(W h)). A₁ = T₁(x),
of size 3 × 3, and A₂ = T₂(F₁(A₁ᵀ x)), of size 64 × 64, turn a cloud into a pose of its own; a T-net
has the form T(h) = I + ρ_T(max_p F_T(h_p)) and starts at I. A₂ is held near the orthogonal matrices
by λ ‖I - A₂ A₂ᵀ‖² in the training loss, λ = 0.001.

Only the critical points, where some maximum is attained, decide f: all others may be left out.
Where a point has more than its place (a normal), A₁ turns all its vectors.

Qi, Su, Mo and Guibas (2017), CVPR. Notes: J 7.3 (a use of Deep Sets, J 7.2).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.aux_losses import add_to_loss
from chainrule.nn.chunked import chunked
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.pooled_layer import PooledLayer

PENALTY = 1e-3  # λ of the paper
AT_ONCE = 64  # clouds of a large batch that are evaluated at a time

Points = Float[Tensor, "batch points inputs"]


class Features(NamedTuple):
    """What PointNet finds in a cloud, and the two transformations on the way."""

    local: Float[Tensor, "batch points 64"]
    whole: Float[Tensor, "batch features"]
    A_1: Float[Tensor, "batch d d"]
    A_2: Float[Tensor, "batch 64 64"]


class PointNet(nn.Module):
    """Points (batch, points, inputs) to logits, by `features` global features.

    dimensions: of the space, 2 or 3; inputs: numbers of a point, one or more vectors of the space.
    """

    def __init__(
        self,
        dimensions: int,
        classes: int,
        inputs: int | None = None,
        features: int = 1024,
        hidden: Sequence[int] = (512, 256),
        dropout: float = 0.3,
    ):
        super().__init__()
        self.features = PointFeatures(dimensions, inputs or dimensions, features)
        self.hidden = layers(features, *hidden)
        self.output = initialize(nn.Linear([features, *hidden][-1], classes), "lecun")
        self.rate = dropout

    def forward(self, x: Points) -> Float[Tensor, "batch classes"]:
        return chunked(self._scores, x, AT_ONCE, self.training)

    def _scores(self, x: Points) -> Float[Tensor, "batch classes"]:
        """ρ(g)."""
        h = self.hidden(self.features(x).whole)
        return self.output(dropout(h, self.rate, self.training))

    def critical_points(self, x: Points) -> Bool[Tensor, "batch points"]:
        """The points that decide: without all others the answer is the same."""
        return self.features.critical_points(x)


class PointFeatures(nn.Module):
    """Local and global features of clouds, with the T-nets between them."""

    def __init__(self, dimensions: int, inputs: int, features: int):
        super().__init__()
        if min(dimensions, inputs, features) < 1 or inputs % dimensions:
            raise InputError(
                "expected at least one dimension and feature, and points of one or more vectors of "
                f"{dimensions} numbers, got {dimensions}, {features} and {inputs} numbers"
            )
        self.dimensions = dimensions
        self.input_transform = TNet(inputs, dimensions, features)
        self.first = layers(inputs, 64, 64)
        self.feature_transform = TNet(64, 64, features)
        self.second = layers(64, 64, 128)
        self.pooled = PooledLayer(128, features)

    def forward(self, x: Points) -> Features:
        """The penalty on A₂ goes to the training loss."""
        A_1 = self.input_transform(x)
        h = pointwise(self.first, turned(x, A_1))
        A_2 = self.feature_transform(h)
        add_to_loss(PENALTY * orthogonality(A_2))
        local = h @ A_2
        return Features(local, self.pooled(pointwise(self.second, local)), A_1, A_2)

    @torch.no_grad()
    def critical_points(self, x: Points) -> Bool[Tensor, "batch points"]:
        """Those where a unit of one of the three maxima has its largest value."""
        h = pointwise(self.first, turned(x, self.input_transform(x)))
        deep = pointwise(self.second, h @ self.feature_transform(h))
        critical = torch.zeros(x.shape[:2], dtype=torch.bool, device=x.device)
        for layer, seen in (
            (self.input_transform.pooled, pointwise(self.input_transform.first, x)),
            (self.feature_transform.pooled, pointwise(self.feature_transform.first, h)),
            (self.pooled, deep),
        ):
            critical.scatter_(1, layer.critical(seen), value=True)
        return critical


class TNet(nn.Module):
    """A matrix k × k for a whole cloud: I + ρ(max_p F(h_p)), at first I."""

    def __init__(self, inputs: int, size: int, features: int):
        super().__init__()
        self.size = size
        self.first = layers(inputs, 64, 128)
        self.pooled = PooledLayer(128, features)
        self.hidden = layers(features, 512, 256)
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


def turned(x: Points, A: Float[Tensor, "batch d d"]) -> Points:
    """Aᵀ v for every vector v of every point."""
    batch, points, inputs = x.shape
    vectors = x.reshape(batch, points * inputs // A.shape[1], A.shape[1])
    return (vectors @ A).view(x.shape)


def pointwise(network: nn.Module, h: Points) -> Float[Tensor, "batch points outputs"]:
    """The same network for every point; its norms see the points of all clouds."""
    return network(h.flatten(0, 1)).unflatten(0, h.shape[:2])


def layers(*sizes: int) -> nn.Sequential:
    """h ↦ φ(N(W h)) from each size to the next."""
    parts: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        linear = initialize(nn.Linear(inputs, outputs, bias=False), "kaiming")
        parts += [linear, nn.BatchNorm1d(outputs), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


def example() -> tuple[PointNet, Tensor]:
    """32 global features for four clouds of ten points with their normals."""
    return PointNet(3, classes=5, inputs=6, features=32), torch.randn(4, 10, 6)

"""PointNet for segmentation: a class for every point of a cloud.

    h_p, g  = local and global features of PointNet
    f(x)_p  = ρ(h_p, g)                    one score per class and point

    f(P x) = P f(x)      for every permutation P of the points

ρ takes the 64 local features of a point and the 1024 global ones of its cloud. It is a shared MLP
with layers h ↦ φ(N(W h)) of 512, 256 and 128 units. Its first product is W_l h_p + W_g g, whose
second term is computed once per cloud.

Qi, Su, Mo and Guibas (2017), CVPR. Notes: J 7.3.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.geometric.pointnet import PointFeatures, Points, pointwise, shared_mlp
from chainrule.nn.chunked import chunked
from chainrule.nn.initialization import initialize

CHUNK_SIZE = 64  # clouds of a large batch that are evaluated at a time


@checked
class PointNetSegmentation(nn.Module):
    """Clouds of points (batch, points, in_features) to logits (batch, num_classes, points).

        f(x)_p = ρ(h_p, g),   h, g the local and global features of PointNet

    Args:
        dimensions: Dimensions of the space, 2 or 3.
        num_classes: Number of classes of a point.
        in_features: Numbers of a point, one or more vectors of the space; by default one.
        features: Global features of a cloud.

    >>> model = PointNetSegmentation(3, num_classes=5, features=32)
    >>> model(torch.randn(4, 10, 3)).shape
    torch.Size([4, 5, 10])
    """

    def __init__(
        self,
        dimensions: Count,
        num_classes: Count,
        in_features: Count | None = None,
        features: Count = 1024,
    ):
        super().__init__()
        self.features = PointFeatures(dimensions, in_features or dimensions, features)
        self.from_local = initialize(nn.Linear(64, 512, bias=False), "lecun")
        self.from_global = initialize(nn.Linear(features, 512, bias=False), "lecun")
        self.hidden = nn.Sequential(
            nn.BatchNorm1d(512), nn.ReLU(inplace=True), *shared_mlp(512, 256, 128)
        )
        self.output = initialize(nn.Linear(128, num_classes), "lecun")

    def forward(self, x: Points) -> Float[Tensor, "batch classes points"]:
        return chunked(self._scores, x, CHUNK_SIZE, self.training)

    def _scores(self, x: Points) -> Float[Tensor, "batch classes points"]:
        """ρ(h_p, g)."""
        h, g, *_ = self.features(x)
        first = self.from_local(h) + self.from_global(g)[:, None]
        return self.output(pointwise(self.hidden, first)).transpose(1, 2)

    def critical_points(self, x: Points) -> Bool[Tensor, "batch points"]:
        """The points that attain a maximum; the global features do not depend on the others."""
        return self.features.critical_points(x)


def example() -> tuple[PointNetSegmentation, Tensor]:
    """Three classes for the ten points of each of four clouds, by 32 global features."""
    return PointNetSegmentation(3, num_classes=3, features=32), torch.randn(4, 10, 3)

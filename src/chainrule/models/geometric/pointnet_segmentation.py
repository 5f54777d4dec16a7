"""PointNet for segmentation: a class for every point of a cloud.

    h_p, g  = local and global features of PointNet
    f(x)_p  = ρ(h_p, g)                    one score per class and point

    f(P x) = P f(x)      for every permutation P of the points

Each point sees its own 64 local features beside the 1024 of the whole cloud. ρ has layers
h ↦ φ(N(W h)) of 512, 256 and 128 units that act on every point alike. Its first product is
W_l h_p + W_g g, of which the second part is made once per cloud.

Qi, Su, Mo and Guibas (2017), CVPR. Notes: J 7.3.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.models.geometric.pointnet import PointFeatures, Points, layers, pointwise
from chainrule.nn.chunked import chunked
from chainrule.nn.initialization import initialize

AT_ONCE = 64  # clouds of a large batch that are evaluated at a time


class PointNetSegmentation(nn.Module):
    """Points (batch, points, inputs) to logits (batch, classes, points)."""

    def __init__(
        self, dimensions: int, classes: int, inputs: int | None = None, features: int = 1024
    ):
        super().__init__()
        self.features = PointFeatures(dimensions, inputs or dimensions, features)
        self.from_local = initialize(nn.Linear(64, 512, bias=False), "lecun")
        self.from_whole = initialize(nn.Linear(features, 512, bias=False), "lecun")
        self.hidden = nn.Sequential(
            nn.BatchNorm1d(512), nn.ReLU(inplace=True), *layers(512, 256, 128)
        )
        self.output = initialize(nn.Linear(128, classes), "lecun")

    def forward(self, x: Points) -> Float[Tensor, "batch classes points"]:
        return chunked(self._scores, x, AT_ONCE, self.training)

    def _scores(self, x: Points) -> Float[Tensor, "batch classes points"]:
        """ρ(h_p, g)."""
        local, whole, *_ = self.features(x)
        joined = self.from_local(local) + self.from_whole(whole)[:, None]
        return self.output(pointwise(self.hidden, joined)).transpose(1, 2)

    def critical_points(self, x: Points) -> Bool[Tensor, "batch points"]:
        """The points that decide the features of the whole."""
        return self.features.critical_points(x)


def example() -> tuple[PointNetSegmentation, Tensor]:
    """Three classes for the ten points of each of four clouds, by 32 global features."""
    return PointNetSegmentation(3, classes=3, features=32), torch.randn(4, 10, 3)

"""Clouds of points on solids, and a PointNet whose transformations are not the identity."""

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.data.solids import box, cylinder, frustum, half_torus
from chainrule.models.geometric.pointnet import TNet

SOLIDS = (box(1.0, 0.7, 0.4), cylinder(0.4, 1.0), frustum(0.6, 0.1, 0.9), half_torus(0.6, 0.15))


def clouds(number: int, points: int, seed: int) -> Tensor:
    """(number, points, 3): points on four solids in turn, double precision."""
    generator = np.random.default_rng(seed)
    drawn = (SOLIDS[k % len(SOLIDS)].sample(points, generator) for k in range(number))
    return torch.from_numpy(np.stack(list(drawn))).double()


@torch.no_grad()
def turning(model: nn.Module) -> nn.Module:
    """In double precision and evaluation mode; a new T-net would be the identity."""
    for part in model.modules():
        if isinstance(part, TNet):
            part.output.weight.normal_(std=0.02)
    return model.double().eval()

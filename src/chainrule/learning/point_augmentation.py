"""Augmentation of point clouds: transformations that keep their label, on whole batches.

    {(x_i, y_i)}  ↦  {(τ(x_i), y_i)}        a new τ for every cloud in every step

Each function returns a map of batches (B, points, features). The first `dimensions` features of a
point are its position; further vectors, such as a normal, may follow. It draws from torch's default
generator, which the training loop seeds at every step. The last axis of the space points up.
Qi et al. (2017), PointNet; dropping points: Qi et al. (2017), PointNet++. Notes: J 7.3, J 8.7.
"""

import math

import torch
from torch import Tensor

from chainrule.arguments import Count, NonNegative, Rate, Share, TwoOrMore, checked
from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment


@checked
def jitter(sigma: NonNegative, largest: NonNegative, dimensions: Count = 3) -> Augment:
    """x_p + ε with ε ~ N(0, σ²), clipped to ±`largest`; normals keep their values."""

    def transform(x: Tensor) -> Tensor:
        position = clouds(x)[..., :dimensions]
        moved = position + (sigma * torch.randn_like(position)).clamp(-largest, largest)
        return torch.cat([moved, x[..., dimensions:]], 2)

    return transform


@checked
def random_rotation(degrees: NonNegative = 180.0, dimensions: TwoOrMore = 3) -> Augment:
    """Rotate by up to ±degrees about the vertical axis; in the plane, about the origin."""

    def turn(x: Tensor) -> Tensor:
        batch = len(clouds(x))
        angle = math.radians(degrees) * (2 * torch.rand(batch, device=x.device, dtype=x.dtype) - 1)
        R = torch.eye(dimensions, device=x.device, dtype=x.dtype).repeat(batch, 1, 1)
        R[:, 0, 0] = R[:, 1, 1] = angle.cos()
        R[:, 0, 1] = angle.sin()  # points are rows: x R rotates counterclockwise
        R[:, 1, 0] = -angle.sin()
        return (x.reshape(batch, -1, dimensions) @ R).view(x.shape)

    return turn


@checked
def random_flip(dimensions: TwoOrMore = 3) -> Augment:
    """Mirror front and back, and left and right, each in half of the clouds."""

    def flip(x: Tensor) -> Tensor:
        batch = len(clouds(x))
        signs = torch.ones(batch, 1, dimensions, device=x.device, dtype=x.dtype)
        level = dimensions - 1 if dimensions > 2 else dimensions
        signs[:, 0, :level] -= 2 * (torch.rand(batch, level, device=x.device) < 0.5).to(x.dtype)
        return x * signs.repeat(1, 1, x.shape[2] // dimensions)

    return flip


@checked
def random_scale(share: Rate, dimensions: Count = 3) -> Augment:
    """Scale each axis by a factor of 1 ± share; not for clouds with normals."""

    def scale(x: Tensor) -> Tensor:
        if clouds(x).shape[2] != dimensions:
            raise InputError(
                "random_scale would tilt the normals; use points without normals, or no scaling"
            )
        factors = 1 + share * (2 * torch.rand(len(x), 1, dimensions, device=x.device) - 1)
        return x * factors.to(x.dtype)

    return scale


@checked
def drop_points(largest: Share) -> Augment:
    """Move up to a fraction `largest` of the points onto the first, which max pooling ignores."""

    def drop(x: Tensor) -> Tensor:
        batch, points, _ = clouds(x).shape
        share = largest * torch.rand(batch, 1, device=x.device)
        gone = torch.rand(batch, points, device=x.device) < share
        return torch.where(gone[..., None], x[:, :1], x)

    return drop


@checked
def sample_points(number: Count) -> Augment:
    """Draw `number` of the points, or take all if there are no more."""

    def choose(x: Tensor) -> Tensor:
        batch, points, features = clouds(x).shape
        if number >= points:
            return x
        chosen = torch.rand(batch, points, device=x.device).argsort(1)[:, :number]
        return x.gather(1, chosen[..., None].expand(-1, -1, features))

    return choose


def clouds(x: Tensor) -> Tensor:
    if x.ndim != 3:
        raise InputError(
            f"augmentation expects clouds (batch, points, features), got {tuple(x.shape)}"
        )
    return x

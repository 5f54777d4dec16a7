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

from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment


def jitter(sigma: float, largest: float, dimensions: int = 3) -> Augment:
    """x_p + ε with ε ~ N(0, σ²), clipped to ±`largest`; normals keep their values."""
    at_least_zero(sigma=sigma, largest=largest)

    def transform(x: Tensor) -> Tensor:
        position = clouds(x)[..., :dimensions]
        moved = position + (sigma * torch.randn_like(position)).clamp(-largest, largest)
        return torch.cat([moved, x[..., dimensions:]], 2)

    return transform


def random_rotation(degrees: float = 180.0, dimensions: int = 3) -> Augment:
    """Rotate by up to ±degrees about the vertical axis; in the plane, about the origin."""
    at_least_zero(degrees=degrees)

    def turn(x: Tensor) -> Tensor:
        batch = len(clouds(x))
        angle = math.radians(degrees) * (2 * torch.rand(batch, device=x.device, dtype=x.dtype) - 1)
        R = torch.eye(dimensions, device=x.device, dtype=x.dtype).repeat(batch, 1, 1)
        R[:, 0, 0] = R[:, 1, 1] = angle.cos()
        R[:, 0, 1] = angle.sin()  # points are rows: x R rotates counterclockwise
        R[:, 1, 0] = -angle.sin()
        return (x.reshape(batch, -1, dimensions) @ R).view(x.shape)

    return turn


def random_flip(dimensions: int = 3) -> Augment:
    """Mirror front and back, and left and right, each in half of the clouds."""

    def flip(x: Tensor) -> Tensor:
        batch = len(clouds(x))
        signs = torch.ones(batch, 1, dimensions, device=x.device, dtype=x.dtype)
        level = dimensions - 1 if dimensions > 2 else dimensions
        signs[:, 0, :level] -= 2 * (torch.rand(batch, level, device=x.device) < 0.5).to(x.dtype)
        return x * signs.repeat(1, 1, x.shape[2] // dimensions)

    return flip


def random_scale(share: float, dimensions: int = 3) -> Augment:
    """Scale each axis by a factor of 1 ± share; not for clouds with normals."""
    if not 0 <= share < 1:
        raise InputError(f"share must be in [0, 1), got {share}")

    def scale(x: Tensor) -> Tensor:
        if clouds(x).shape[2] != dimensions:
            raise InputError(
                "random_scale would tilt the normals; use points without normals, or no scaling"
            )
        factors = 1 + share * (2 * torch.rand(len(x), 1, dimensions, device=x.device) - 1)
        return x * factors.to(x.dtype)

    return scale


def drop_points(largest: float) -> Augment:
    """Move up to a fraction `largest` of the points onto the first, which max pooling ignores."""
    if not 0 <= largest <= 1:
        raise InputError(f"largest must be in [0, 1], got {largest}")

    def drop(x: Tensor) -> Tensor:
        batch, points, _ = clouds(x).shape
        share = largest * torch.rand(batch, 1, device=x.device)
        gone = torch.rand(batch, points, device=x.device) < share
        return torch.where(gone[..., None], x[:, :1], x)

    return drop


def sample_points(number: int) -> Augment:
    """Draw `number` of the points, or take all if there are no more."""
    if number < 1:
        raise InputError(f"number must be at least 1, got {number}")

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


def at_least_zero(**values: float) -> None:
    for name, value in values.items():
        if not value >= 0:
            raise InputError(f"{name} must be at least 0, got {value}")

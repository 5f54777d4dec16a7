"""Augmentation of point clouds: what leaves the label alone, on whole batches of points.

    {(x_i, y_i)}  ↦  {(τ(x_i), y_i)}        τ drawn anew for every cloud in every step

Each function returns a map of batches (B, points, numbers), the first `dimensions` numbers of a
point being its place, and further vectors (a normal) following. It draws from torch's own
generator, which the training loop seeds at every step. The last axis of the space points up.
Qi et al. (2017), PointNet; dropping points: Qi et al. (2017), PointNet++. Notes: J 7.3, J 8.7.
"""

import math

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning.augmentation import Augment


def jitter(sigma: float, largest: float, dimensions: int = 3) -> Augment:
    """x_p + ε with ε ~ N(0, σ²), no coordinate further off than `largest`; normals stay."""
    at_least_zero(sigma=sigma, largest=largest)

    def shake(x: Tensor) -> Tensor:
        place = clouds(x)[..., :dimensions]
        moved = place + (sigma * torch.randn_like(place)).clamp(-largest, largest)
        return torch.cat([moved, x[..., dimensions:]], 2)

    return shake


def rotate_about_up(degrees: float = 180.0, dimensions: int = 3) -> Augment:
    """A turn by up to ±degrees about the upward axis; in the plane, about the origin."""
    at_least_zero(degrees=degrees)

    def turn(x: Tensor) -> Tensor:
        batch = len(clouds(x))
        angle = math.radians(degrees) * (2 * torch.rand(batch, device=x.device, dtype=x.dtype) - 1)
        R = torch.eye(dimensions, device=x.device, dtype=x.dtype).repeat(batch, 1, 1)
        R[:, 0, 0] = R[:, 1, 1] = angle.cos()
        R[:, 0, 1] = angle.sin()  # rows of x are points: x R turns against the clock
        R[:, 1, 0] = -angle.sin()
        return (x.reshape(batch, -1, dimensions) @ R).view(x.shape)

    return turn


def mirror(dimensions: int = 3) -> Augment:
    """Front and back, and left and right, change places, each in half of the clouds."""

    def flip(x: Tensor) -> Tensor:
        batch = len(clouds(x))
        signs = torch.ones(batch, 1, dimensions, device=x.device, dtype=x.dtype)
        level = dimensions - 1 if dimensions > 2 else dimensions
        signs[:, 0, :level] -= 2 * (torch.rand(batch, level, device=x.device) < 0.5).to(x.dtype)
        return x * signs.repeat(1, 1, x.shape[2] // dimensions)

    return flip


def rescale(share: float, dimensions: int = 3) -> Augment:
    """Every axis longer or shorter by up to this share; not for clouds with normals."""
    if not 0 <= share < 1:
        raise InputError(f"expected a share from 0 to below 1, got {share}")

    def scale(x: Tensor) -> Tensor:
        if clouds(x).shape[2] != dimensions:
            raise InputError("stretching would tilt the normals; leave out one of the two")
        factors = 1 + share * (2 * torch.rand(len(x), 1, dimensions, device=x.device) - 1)
        return x * factors.to(x.dtype)

    return scale


def drop_points(largest: float) -> Augment:
    """A share of up to `largest` of the points falls onto the first: to a maximum they are gone."""
    if not 0 <= largest <= 1:
        raise InputError(f"expected a share from 0 to 1, got {largest}")

    def drop(x: Tensor) -> Tensor:
        batch, points, _ = clouds(x).shape
        share = largest * torch.rand(batch, 1, device=x.device)
        gone = torch.rand(batch, points, device=x.device) < share
        return torch.where(gone[..., None], x[:, :1], x)

    return drop


def some_points(number: int) -> Augment:
    """So many of the points, drawn anew in every step; all of them where there are no more."""
    if number < 1:
        raise InputError(f"expected at least one point, got {number}")

    def choose(x: Tensor) -> Tensor:
        batch, points, numbers = clouds(x).shape
        if number >= points:
            return x
        chosen = torch.rand(batch, points, device=x.device).argsort(1)[:, :number]
        return x.gather(1, chosen[..., None].expand(-1, -1, numbers))

    return choose


def clouds(x: Tensor) -> Tensor:
    if x.ndim != 3:
        raise InputError(
            f"augmentation expects clouds (batch, points, numbers), got {tuple(x.shape)}"
        )
    return x


def at_least_zero(**values: float) -> None:
    for name, value in values.items():
        if not value >= 0:
            raise InputError(f"expected {name} of at least 0, got {value}")

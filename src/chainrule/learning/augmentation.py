"""Augmentation: transformations of images that keep their label, on whole batches.

    {(x_i, y_i)}  ↦  {(τ(x_i), y_i)}        a new τ for every image in every epoch

Each function returns a map of batches (B, C, H, W). It draws from torch's default generator, which
the training loop seeds at every step, so a run repeats bit for bit. `fill` is the value of pixels
outside an image: 0 for white on black, or the standardized value of black.
Cutout: DeVries and Taylor (2017). Notes: J 8.7, L "Tricks of the Trade".
"""

import math
from collections.abc import Callable
from functools import reduce

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import Count, Finite, Natural, NonNegative, Rate, Share, checked
from chainrule.errors import InputError

Augment = Callable[[Tensor], Tensor]
"""Changes the inputs of a training batch; it draws from torch's generator."""

Images = Float[Tensor, "batch channels height width"]


def compose(*augments: Augment) -> Augment:
    """Apply the transformations in order."""
    return lambda x: reduce(lambda images, augment: augment(images), augments, x)


@checked
def horizontal_flip(probability: Share = 0.5) -> Augment:
    """Mirror left and right with the given probability."""

    def flip(x: Tensor) -> Tensor:
        chosen = torch.rand(size(x)[0], 1, 1, 1, device=x.device) < probability
        return torch.where(chosen, x.flip(-1), x)

    return flip


@checked
def random_crop(padding: Natural, side: Count | None = None, fill: Finite = 0.0) -> Augment:
    """A random window of side² pixels (by default the image size) of the padded image."""

    def crop(x: Tensor) -> Tensor:
        batch, _, height, width = size(x)
        padded = F.pad(x, [padding] * 4, value=fill)
        windows = padded.unfold(2, side or height, 1).unfold(3, side or width, 1)
        top = torch.randint(windows.shape[2], (batch,), device=x.device)
        left = torch.randint(windows.shape[3], (batch,), device=x.device)
        return windows[torch.arange(batch, device=x.device), :, top, left]

    return crop


@checked
def shift(pixels: Natural, fill: Finite = 0.0) -> Augment:
    """Shift by up to `pixels` whole pixels in each direction."""
    return random_crop(pixels, fill=fill)


@checked
def affine(
    degrees: NonNegative = 10.0, scaling: Rate = 0.1, shift: NonNegative = 0.05, fill: Finite = 0.0
) -> Augment:
    """Rotate by up to ±degrees, scale by 1 ± scaling, shift by up to a fraction of each side."""

    def transform(x: Tensor) -> Tensor:
        batch, _, height, width = size(x)
        angle, scale, right, down = 2 * torch.rand(4, batch, device=x.device, dtype=x.dtype) - 1
        A = inverse_affine(angle * math.radians(degrees), 1 + scale * scaling, height / width)
        A[:, :, 2] = -2 * shift * torch.stack([right, down], 1)
        # One product for all images; F.affine_grid makes one per image and takes 15 times as long.
        grid = (A @ coordinates(x)).view(batch, 2, height, width).permute(0, 2, 3, 1)
        moved = F.grid_sample(x - fill if fill else x, grid, align_corners=False)
        return moved + fill if fill else moved

    return transform


@checked
def gaussian_noise(sigma: NonNegative = 0.1) -> Augment:
    """x + σ ε with ε ~ N(0, 1) in every pixel."""
    return lambda x: x + sigma * torch.randn_like(x)


@checked
def color_jitter(strength: Share = 0.2) -> Augment:
    """Brightness, contrast and saturation of images in [0, 1], each times 1 ± strength.

        x ← b x,     x ← m + c (x - m),     x ← g + s (x - g)

    with m the mean of the image, g the mean of its colors at each pixel, and b, c, s uniform.
    """

    def jitter(x: Tensor) -> Tensor:
        batch, channels, _, _ = size(x)
        draw = 2 * torch.rand(3, batch, 1, 1, 1, device=x.device, dtype=x.dtype) - 1
        brightness, contrast, saturation = 1 + strength * draw
        x = x * brightness
        mean = x.mean((1, 2, 3), keepdim=True)
        x = mean + contrast * (x - mean)
        if channels == 3:
            gray = x.mean(1, keepdim=True)
            x = gray + saturation * (x - gray)
        return x.clamp(0, 1)

    return jitter


@checked
def cutout(side: Count, fill: Finite = 0.0) -> Augment:
    """Fill a square of side² pixels about a random pixel; it may extend beyond the edge."""

    def cut(x: Tensor) -> Tensor:
        batch, _, height, width = size(x)
        rows = random_interval(batch, height, side, x.device)[:, None, :, None]
        columns = random_interval(batch, width, side, x.device)[:, None, None, :]
        return x.masked_fill(rows & columns, fill)

    return cut


@checked
def random_interval(batch: int, length: int, side: int, device: torch.device) -> Tensor:
    """Which of `length` positions lie in an interval of `side` about a random one, per image."""
    first = torch.randint(length, (batch, 1), device=device) - side // 2
    positions = torch.arange(length, device=device)
    return (positions >= first) & (positions < first + side)


@checked
def inverse_affine(angle: Tensor, scale: Tensor, aspect: float) -> Float[Tensor, "batch 2 3"]:
    """The source of each pixel when the image is rotated counterclockwise by α and scaled by s.

    1/s [[cos α, -a sin α, 0], [sin α / a, cos α, 0]],   a = height / width,

    in coordinates (right, down, 1) that run from -1 to 1 along both sides.
    """
    cos, sin, zero = angle.cos() / scale, angle.sin() / scale, torch.zeros_like(angle)
    rows = [cos, -aspect * sin, zero, sin / aspect, cos, zero]
    return torch.stack(rows, 1).view(-1, 2, 3)


@checked
def coordinates(x: Images) -> Float[Tensor, "3 pixels"]:
    """(right, down, 1) of every pixel's center, from -1 to 1 along both sides."""
    height, width = x.shape[2:]
    down, right = (
        (torch.arange(n, device=x.device, dtype=x.dtype) * 2 + 1) / n - 1 for n in (height, width)
    )
    both = torch.meshgrid(down, right, indexing="ij")
    return torch.stack([both[1], both[0], torch.ones_like(both[0])]).flatten(1)


def size(x: Tensor) -> tuple[int, int, int, int]:
    """Batch, channels, height and width."""
    if x.ndim != 4:
        raise InputError(
            f"augmentation expects images (batch, channels, height, width), got {tuple(x.shape)}"
        )
    batch, channels, height, width = x.shape
    return batch, channels, height, width

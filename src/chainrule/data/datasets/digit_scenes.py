"""Digit scenes: MNIST digits on a textured background, every pixel labeled ground or ink.

Gray images of 48×48 in [0, 1] with two to four slightly rotated and enlarged digits. The background
is a random mixture of waves, stripes and clouds. The ink has one gray level, brighter than the mean
of the background in half of the scenes and darker in the others, and often a level that also occurs
in the background, so no threshold separates them. Weak noise is added to all pixels.

    x = ink where y = 1, background where y = 0

Training and validation scenes use MNIST's training digits, test scenes its test digits, and no
digit is used twice. The scenes never change; the seed draws the validation split. For U-Net,
Ronneberger, Fischer and Brox (2015).
"""

import math
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from chainrule.data.datasets.mnist import ABOUT as MNIST
from chainrule.data.datasets.mnist import CHECKSUMS
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.images.idx import FILES, fetch_idx, load_bytes
from chainrule.data.splits import TEST_SEED, About, Split, Splits, stratified_indices

SIDE = 48
CELL = SIDE // 2  # one digit per quarter at most
TRAINING, TEST = 9_000, 1_000  # scenes made of MNIST's training and test digits
CHUNK = 1_000  # scenes generated at once
MAX_SHIFT = 2.0  # pixels
MAX_ANGLE = math.radians(15)
WAVES, MAX_FREQUENCY = 4, 6.0  # waves in a background; cycles per side

ABOUT = About(
    task="segmentation",
    source=MNIST.source,
    license=MNIST.license,
    citation=MNIST.citation,
    shapes="x (n, 1, 48, 48) in [0, 1]; y (n, 48, 48) 2 classes; 8,000 / 1,000 / 1,000",
)
CLASSES = ("ground", "ink")


def load(folder: Path | None = None, seed: int = 0, validation: int = 1_000) -> Splits:
    """validation: size of the validation split."""
    paths = fetch_idx("mnist", MNIST.source, CHECKSUMS, folder)
    x, y = scenes(paths[0], TRAINING, TEST_SEED)
    rest, held = stratified_indices(torch.zeros(len(x)), validation, seed)
    test = scenes(paths[2], TEST, TEST_SEED + 1)
    encoder = ImageEncoder(size=SIDE, invert_bright=False)
    return Splits(Split(x[rest], y[rest]), Split(x[held], y[held]), test, CLASSES, encoder)


def scenes(path: Path, number: int, seed: int) -> Split:
    """Scenes made of the digits in an idx file."""
    digits = load_bytes(path, FILES[path.name])
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(digits), generator=generator)[: 4 * number]
    parts = [
        scene(torch.from_numpy(digits[rows.numpy()]).float() / 255, generator)
        for rows in order.split(4 * CHUNK)
    ]
    return Split(torch.cat([part.x for part in parts]), torch.cat([part.y for part in parts]))


def scene(digits: Float[Tensor, "four_n 28 28"], generator: torch.Generator) -> Split:
    """One scene for every four digits, which shows two to four of them."""
    n = len(digits) // 4
    ranks = torch.rand(n, 4, generator=generator).argsort(1)
    shown = ranks < torch.randint(2, 5, (n, 1), generator=generator)
    ink = transformed(digits, generator).view(n, 4, SIDE, SIDE) > 0.5
    y = (ink & shown[:, :, None, None]).any(1).long()
    bright = torch.rand(n, 1, 1, generator=generator) < 0.5
    level = 0.3 + 0.2 * torch.rand(n, 1, 1, generator=generator)
    contrast = 0.15 + 0.25 * torch.rand(n, 1, 1, generator=generator)
    ground = level + 0.25 * textures(n, generator)
    x = torch.where(y > 0, level + contrast, ground)
    x = x + 0.04 * torch.randn(x.shape, generator=generator)
    return Split(torch.where(bright, x, 1 - x).clamp(0, 1).unsqueeze(1), y)


def transformed(
    digits: Float[Tensor, "four_n 28 28"], generator: torch.Generator
) -> Float[Tensor, "four_n 48 48"]:
    """Each digit rotated, scaled and shifted into its quarter of the scene."""
    n = len(digits)
    angle = MAX_ANGLE * (2 * torch.rand(n, generator=generator) - 1)
    scale = 0.9 + 0.3 * torch.rand(n, generator=generator)
    quarter = torch.tensor([[-1, -1], [1, -1], [-1, 1], [1, 1]]).repeat(n // 4, 1)
    jitter = MAX_SHIFT * (2 * torch.rand(n, 2, generator=generator) - 1)
    middle = quarter * CELL / 2 + jitter  # in pixels from the middle of the scene
    cos, sin = angle.cos() / scale, angle.sin() / scale
    back = torch.stack([cos, -sin, sin, cos], 1).view(n, 2, 2)
    # Pixel p of the scene shows R(p - middle) / s of the digit, whose unit is 14 pixels.
    offset = -(back @ middle[:, :, None])
    grid = F.affine_grid(
        torch.cat([back * (SIDE / 28), offset / 14], 2), [n, 1, SIDE, SIDE], align_corners=False
    )
    return F.grid_sample(digits[:, None], grid, align_corners=False)[:, 0]


def textures(number: int, generator: torch.Generator) -> Float[Tensor, "number 48 48"]:
    """Random mixtures of waves, stripes and clouds in [-1, 1]."""
    shares = torch.rand(3, number, 1, 1, generator=generator)
    shares = shares / shares.sum(0)
    wave = waves(WAVES, number, generator).mean(0)
    stripe = waves(1, number, generator)[0].sign()
    coarse = 2 * torch.rand(number, 1, 7, 7, generator=generator) - 1
    cloud = F.interpolate(coarse, SIDE, mode="bilinear", align_corners=True)[:, 0]
    mixed = shares[0] * wave + shares[1] * stripe + shares[2] * cloud
    return mixed / mixed.abs().amax((1, 2), keepdim=True)


def waves(
    per_texture: int, number: int, generator: torch.Generator
) -> Float[Tensor, "per_texture number 48 48"]:
    """sin(2π (k·p + φ)) over the unit square, k and φ random."""
    k = MAX_FREQUENCY * (2 * torch.rand(2, per_texture, number, 1, 1, generator=generator) - 1)
    phase = torch.rand(per_texture, number, 1, 1, generator=generator)
    along = 2 * math.pi * torch.arange(SIDE) / SIDE
    a, b = k[0] * along + 2 * math.pi * phase, k[1] * along[:, None]
    return (
        a.sin() * b.cos() + a.cos() * b.sin()
    )  # sin(a + b) from 2 · 48 sines and cosines instead of 48²

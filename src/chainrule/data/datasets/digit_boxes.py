"""Digit boxes: MNIST digits scattered over a canvas, each with its class and its bounding box.

Gray images of 48×48 in [0, 1] with one to three digits of 14 to 20 pixels on black. Of several
random placements the one with the least overlap is taken, so digits rarely hide one another.

    y_j = (class, c_x, c_y, w, h)      center and size of the box, in units of the image's side

A scene has three rows y_j; those without a digit have class -1. Training and validation scenes use
MNIST's training digits, test scenes its test digits, and no digit is used twice. The scenes never
change; the seed draws the validation split. For DETR, Carion et al. (2020).
"""

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

SIDE, DIGIT = 48, 28  # pixels of a scene and of an MNIST image
MOST = 3  # digits of a scene
TRAINING, TEST = 11_000, 1_000  # scenes made of MNIST's training and test digits
CHUNK = 500  # scenes generated at once
TRIES = 12  # placements, of which the best is taken
INK = 0.3  # gray level above which a pixel belongs to a digit
ABSENT = -1

ABOUT = About(
    task="detection",
    source=MNIST.source,
    license=MNIST.license,
    citation=MNIST.citation,
    shapes="x (n, 1, 48, 48) in [0, 1]; y (n, 3, 5), class and box; 10,000 / 1,000 / 1,000",
)


def load(folder: Path | None = None, seed: int = 0, validation: int = 1_000) -> Splits:
    """validation: size of the validation split."""
    paths = fetch_idx("mnist", MNIST.source, CHECKSUMS, folder)
    x, y = scenes(paths[0], paths[1], TRAINING, TEST_SEED)
    rest, held = stratified_indices(torch.zeros(len(x)), validation, seed)
    test = scenes(paths[2], paths[3], TEST, TEST_SEED + 1)
    encoder = ImageEncoder(size=SIDE, invert_bright=False)
    classes = tuple(str(k) for k in range(10))
    return Splits(Split(x[rest], y[rest]), Split(x[held], y[held]), test, classes, encoder)


def scenes(images: Path, labels: Path, number: int, seed: int) -> Split:
    """Scenes made of the digits in two idx files."""
    digits, classes = (load_bytes(path, FILES[path.name]) for path in (images, labels))
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(digits), generator=generator)[: MOST * number]
    parts = [
        scene(
            torch.from_numpy(digits[rows.numpy()]).float() / 255,
            torch.from_numpy(classes[rows.numpy()]),
            generator,
        )
        for rows in order.split(MOST * CHUNK)
    ]
    return Split(torch.cat([part.x for part in parts]), torch.cat([part.y for part in parts]))


def scene(
    digits: Float[Tensor, "most_n 28 28"], labels: Tensor, generator: torch.Generator
) -> Split:
    """One scene for every three digits, which shows one to three of them."""
    n = len(digits) // MOST
    shown = torch.arange(MOST) < torch.randint(1, MOST + 1, (n, 1), generator=generator)
    placed = on_canvas(digits.view(n, MOST, DIGIT, DIGIT), shown, generator)
    y = torch.cat([labels.float().view(n, MOST, 1), boxes(placed)], 2)
    y[~shown] = ABSENT
    return Split(placed.amax(1, keepdim=True), y)


def on_canvas(
    digits: Float[Tensor, "n most 28 28"], shown: Tensor, generator: torch.Generator
) -> Float[Tensor, "n most 48 48"]:
    """Each digit on a canvas of its own, scaled and shifted; black where it is not shown."""
    n = len(digits)
    scale = 0.7 + 0.3 * torch.rand(n, MOST, 1, generator=generator)
    free = SIDE / 2 - 10 * scale  # the ink of an MNIST digit is 20 pixels high
    tries = 2 * torch.rand(TRIES, n, MOST, 2, generator=generator) - 1
    middle = best_placement(tries * free, shown)
    # Pixel p of the scene shows (p - middle) / scale of the digit, whose unit is 14 pixels.
    p = torch.arange(SIDE) + 0.5 - SIDE / 2
    seen = ((p - middle[..., None]) / scale[..., None] / (DIGIT / 2)).flatten(0, 1)
    x, y = seen[:, 0, None].expand(-1, SIDE, -1), seen[:, 1, :, None].expand(-1, -1, SIDE)
    grid = torch.stack([x, y], 3)
    placed = F.grid_sample(digits.reshape(n * MOST, 1, DIGIT, DIGIT), grid, align_corners=False)
    return placed.view(n, MOST, SIDE, SIDE) * shown[..., None, None]


def best_placement(
    tries: Float[Tensor, "tries n most 2"], shown: Tensor
) -> Float[Tensor, "n most 2"]:
    """The placement in which the two nearest digits of a scene are farthest apart."""
    apart = (tries[:, :, :, None] - tries[:, :, None]).abs().amax(-1)
    pairs = shown[:, :, None] & shown[:, None] & ~torch.eye(MOST, dtype=torch.bool)
    nearest = apart.masked_fill(~pairs, SIDE).flatten(2).amin(2)
    return tries[nearest.argmax(0), torch.arange(tries.shape[1])]


def boxes(placed: Float[Tensor, "n most 48 48"]) -> Float[Tensor, "n most 4"]:
    """Center and size of the smallest rectangle around the ink."""
    sides = []
    for axis in (2, 3):  # columns, for x; then rows
        ink = (placed > INK).any(axis)
        first, last = ink.int().argmax(2), SIDE - ink.flip(2).int().argmax(2)
        sides.append(torch.stack([first, last], 2) / SIDE)
    ends = torch.stack(sides, 3)
    return torch.cat([ends.mean(2), ends[:, :, 1] - ends[:, :, 0]], 2)

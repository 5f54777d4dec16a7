"""MNIST as point clouds: 70,000 handwritten digits without a grid.

A digit is 128 points in [-1, 1]², the centers of pixels brighter than ½ with x to the right and y
up; a digit with fewer such pixels repeats some. The points never change. The official 10,000 test
digits are the test split; the seed draws the validation split from the 60,000 others.
"""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float

from chainrule.data.cache import decoded
from chainrule.data.datasets.mnist import ABOUT as MNIST
from chainrule.data.datasets.mnist import CHECKSUMS, CLASSES, MARGIN
from chainrule.data.readers.images.idx import FILES, fetch_idx, load_bytes, load_labels
from chainrule.data.readers.points.point_encoders import DrawingEncoder, ink_points
from chainrule.data.splits import TEST_SEED, About, Split, Splits, stratified_indices

ABOUT = About(
    task="classification",
    source=MNIST.source,
    license=MNIST.license,
    citation=MNIST.citation,
    shapes="x (n, 128, 2) in [-1, 1]; y 10 classes; 55,000 / 5,000 / 10,000",
)
POINTS = 128


def load(folder: Path | None = None, seed: int = 0, validation: int = 5_000) -> Splits:
    """validation: size of the validation split."""
    paths, shapes = fetch_idx("mnist", MNIST.source, CHECKSUMS, folder), list(FILES.values())
    x, test_x = (torch.from_numpy(decoded(paths[k], read_points)) for k in (0, 2))
    y, test_y = (load_labels(paths[k], shapes[k], len(CLASSES)) for k in (1, 3))
    rest, held = stratified_indices(y, validation, seed)
    return Splits(
        Split(x[rest], y[rest]),
        Split(x[held], y[held]),
        Split(test_x, test_y),
        CLASSES,
        DrawingEncoder(POINTS, 28, MARGIN),
    )


def read_points(path: Path) -> Float[np.ndarray, "digits 128 2"]:
    """The points of every image in an idx file."""
    images = load_bytes(path, FILES[path.name])
    generator = np.random.default_rng(TEST_SEED)
    return np.stack([ink_points(image / 255, POINTS, generator) for image in images])

"""CIFAR-10: 60,000 small color photographs of ten classes.

RGB images of 32×32 in [0, 1]. The official 10,000 test images are the test split; the seed draws
the validation split from the 50,000 others. Read from the official binary archive or its six
unpacked files, never from the pickled archive.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from chainrule.data import cache
from chainrule.data.files import exists, opened_tar, read_bytes, read_member
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.splits import About, Split, Splits, stratified_indices

ABOUT = About(
    task="classification",
    source="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    license="not stated by the publishers",
    citation="Krizhevsky (2009), Learning Multiple Layers of Features from Tiny Images",
    shapes="x (n, 3, 32, 32) in [0, 1]; y 10 classes; 45,000 / 5,000 / 10,000",
)
CHECKSUM = "md5:c32a1d4ab5d03f1284b67883e8d87530"
ARCHIVE = "cifar10/cifar-10-binary.tar.gz"
INSIDE = "cifar-10-batches-bin"
FILES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
IMAGES = 10_000  # in each file
ROW = 1 + 3 * 32 * 32  # the label, then the red, the green and the blue plane
MEAN = (0.4914, 0.4822, 0.4465)  # of each channel over the 50,000 training images
SPREAD = (0.2470, 0.2435, 0.2616)
CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)


def load(folder: Path | None = None, seed: int = 0, validation: int = 5_000) -> Splits:
    """validation: size of the validation split."""
    rows = published_rows(folder)
    labels = torch.from_numpy(rows[:, 0].astype(np.int64))
    rest, held = stratified_indices(labels[:-IMAGES], validation, seed)
    return Splits(
        Split(images(rows[rest.numpy()]), labels[rest]),
        Split(images(rows[held.numpy()]), labels[held]),
        Split(images(rows[-IMAGES:]), labels[-IMAGES:]),
        CLASSES,
        ImageEncoder(size=32, channels=3, invert_bright=False),
    )


def published_rows(folder: Path | None) -> np.ndarray:
    """(60,000, 3,073) bytes: label and planes of every image, test images last."""
    unpacked = [cache.folder(folder) / "cifar10" / name for name in FILES]
    if all(map(exists, unpacked)):
        return np.concatenate([checked(path, read_bytes(path)) for path in unpacked])
    return cache.decoded(cache.fetch(ARCHIVE, ABOUT.source, CHECKSUM, folder), read_archive)


def read_archive(path: Path) -> np.ndarray:
    """The rows of the six files of the archive, read without unpacking it."""
    wanted = {f"{INSIDE}/{name}": name for name in FILES}
    parts = {}
    with opened_tar(path) as archive:
        for member in archive:
            if member.name in wanted:
                content = read_member(archive, member, IMAGES * ROW)
                parts[wanted[member.name]] = checked(path, content)
    for name in FILES:
        if name not in parts:
            raise cache.damaged(path, f"expected {IMAGES * ROW} bytes of {INSIDE}/{name}")
    return np.concatenate([parts[name] for name in FILES])


def checked(path: Path, content: bytes) -> np.ndarray:
    """The rows of one file; a wrong size or label is refused."""
    if len(content) != IMAGES * ROW:
        raise cache.damaged(path, f"expected {IMAGES * ROW} bytes, got {len(content)}")
    rows = np.frombuffer(content, np.uint8).reshape(IMAGES, ROW)
    if rows[:, 0].max() >= len(CLASSES):
        raise cache.damaged(path, f"expected labels below 10, got {rows[:, 0].max()}")
    return rows


def images(rows: np.ndarray) -> Tensor:
    """(n, 3, 32, 32) in [0, 1]."""
    scaled = np.divide(rows[:, 1:], 255, dtype=np.float32)
    return torch.from_numpy(scaled).reshape(-1, 3, 32, 32)

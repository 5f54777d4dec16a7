"""The idx format of MNIST and similar data sets: a header of sizes, then one byte per value."""

import math
import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from chainrule.data.cache import damaged, decoded, fetch
from chainrule.data.files import gunzip
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.splits import Split, Splits, stratified_indices

FILES = {
    "train-images-idx3-ubyte.gz": (60_000, 28, 28),
    "train-labels-idx1-ubyte.gz": (60_000,),
    "t10k-images-idx3-ubyte.gz": (10_000, 28, 28),
    "t10k-labels-idx1-ubyte.gz": (10_000,),
}


def read_idx(path: Path) -> np.ndarray:
    """The bytes of a gzipped idx file, in the shape given by its header."""
    content = gunzip(path)
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise damaged(path, "its header is not that of an idx file of bytes")
    start = 4 + 4 * content[3]
    if len(content) < start:
        raise damaged(path, "its header is truncated")
    shape = struct.unpack(f">{content[3]}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise damaged(path, f"expected {math.prod(shape)} values, got {len(content) - start}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def load_bytes(path: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The bytes of a file that must have this shape."""
    array = decoded(path, read_idx)
    if array.shape != shape:
        raise damaged(path, f"expected the shape {shape}, got {array.shape}")
    return array


def load_labels(path: Path, shape: tuple[int, ...], classes: int) -> Tensor:
    """The labels of a file; labels that are no class are refused."""
    labels = load_bytes(path, shape)
    if labels.max() >= classes:
        raise damaged(path, f"expected labels below {classes}, got {labels.max()}")
    return torch.from_numpy(labels.astype(np.int64))


def idx_splits(
    paths: list[Path], classes: tuple[str, ...], validation: int, seed: int, margin: float
) -> Splits:
    """The three splits of four idx files.

    paths: the files in the order of FILES.
    classes: the class names.
    validation: size of the validation split.
    seed: draws it.
    margin: empty fraction on each side of an image, for the encoder.
    """
    shapes = list(FILES.values())
    images, test_images = load_bytes(paths[0], shapes[0]), load_bytes(paths[2], shapes[2])
    labels = load_labels(paths[1], shapes[1], len(classes))
    test_labels = load_labels(paths[3], shapes[3], len(classes))
    rest, held = stratified_indices(labels, validation, seed)
    return Splits(
        Split(_scaled(images[rest.numpy()]), labels[rest]),
        Split(_scaled(images[held.numpy()]), labels[held]),
        Split(_scaled(test_images), test_labels),
        classes,
        ImageEncoder(size=28, margin=margin),
    )


def _scaled(images: np.ndarray) -> Tensor:
    """(n, 1, height, width) in [0, 1]."""
    # NumPy requests huge pages, so this is four times as fast as the same line in PyTorch.
    return torch.from_numpy(np.divide(images, 255, dtype=np.float32)).unsqueeze(1)


def fetch_idx(name: str, url: str, checksums: list[str], folder: Path | None) -> list[Path]:
    """The four files of one data set."""
    return [
        fetch(f"{name}/{file}", url + file, f"md5:{checksum}", folder)
        for file, checksum in zip(FILES, checksums, strict=True)
    ]

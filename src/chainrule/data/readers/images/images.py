"""Your own images: a folder of PNG, JPEG or WebP files as three splits of bytes on the disk.

Files are decoded in parallel, once, into one memory-mapped array in the cache folder, so that
training reads from the disk only the rows of a batch. Copies of an image, found by a checksum of
what the network would see, are never divided among the splits. Notes: A 1.3.1 (step 0).
"""

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import Natural, Share, checked
from chainrule.data.cache import Mapped, mapped
from chainrule.data.files import read_bytes
from chainrule.data.readers.images.image_files import PARTS, by_folder, by_table
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.images.pixels import FORMATS, MAX_PICTURE, decode_quietly
from chainrule.data.readers.tables.columns import listed
from chainrule.data.readers.tables.table import MIN_ROWS, rare_class_remarks
from chainrule.data.splits import TEST_SEED, Seed, Split, Splits, stratified_indices
from chainrule.errors import InputError

SAMPLED = 200  # files whose size is looked at to choose one for all
MAX_DEFAULT_SIZE = 64
BLOCK = 10_000  # files handed to the threads at once
ROWS = 256  # copied at once
MAX_CLASSES = 10_000
SHOWN = 3  # files that a remark names


@checked
def images(
    folder: str | Path,
    labels: str | Path | None = None,
    seed: Seed = 0,
    size: Natural = 0,
    resize: str = "crop",
    gray: bool = False,
    test_fraction: Share = 0.2,
    validation_fraction: Share = 0.2,
) -> Splits:
    """The three splits of a folder of images, as bytes (n, channels, size, size) on the disk.

    folder: one sub-folder for each class; with `labels` any folder. Sub-folders named train,
        and validation, test or both, are taken as the splits.
    labels: a CSV file with a column of files within the folder and one of labels.
    seed: draws the validation split; the test split is always the same.
    size: height and width of the images; 0 takes the median of the shorter sides, at most 64.
    resize: "crop" takes the square in the middle of an image, "pad" adds black bars, "stretch"
        changes the aspect ratio.
    gray: whether colors are dropped.
    test_fraction: size of the test split, unless it is given.
    validation_fraction: size of the validation split, unless it is given.

    >>> import os, tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, color in (("bright", 250), ("dark", 5)):
    ...         os.mkdir(f"{folder}/{name}")
    ...         for k in range(10):
    ...             Image.new("L", (8, 8), color - k % 3).save(f"{folder}/{name}/{k}.png")
    ...     data = images(folder, gray=True)
    ...     data.classes, data.train.x.shape[1:]
    (('bright', 'dark'), torch.Size([1, 8, 8]))
    """
    folder = Path(folder)
    listing = by_folder(folder) if labels is None else by_table(folder, labels)
    classes = class_names(listing.labels)
    encoder = PhotoEncoder(size or usual_size(listing.paths), 1 if gray else 3, resize)
    key, decoded = decoded_images(encoder, listing.paths)
    errors, digests = decoded.notes["errors"], decoded.notes["digests"]
    kept = [k for k, digest in enumerate(digests) if digest]
    if len(kept) < MIN_ROWS:
        raise InputError(
            f"{folder} holds {len(kept)} images that can be read; expected at least {MIN_ROWS}"
            + (f"; {errors[0]}" if errors else "")
        )
    number = {name: k for k, name in enumerate(classes)}
    y = torch.tensor([number[listing.labels[k]] for k in kept])
    copies = torch.from_numpy(np.unique([digests[k] for k in kept], return_inverse=True)[1])
    parts = torch.tensor([listing.parts[k] for k in kept]) if listing.parts else None
    rows = divided(y, copies, parts, seed, (test_fraction, validation_fraction))
    order = torch.tensor(kept)[torch.cat(rows)]
    x = torch.from_numpy(ordered(key, decoded.array, order.numpy()))
    ends = np.cumsum([len(part) for part in rows]).tolist()
    train, validation, test = (
        Split(x[end - len(part) : end], y[part]) for part, end in zip(rows, ends, strict=True)
    )
    remarks = (
        *found_remarks(classes, y, decoded.notes["sizes"], encoder),
        *listing.remarks,
        *error_remarks(errors),
        *copy_remarks(y, copies, parts, [str(listing.paths[k].relative_to(folder)) for k in kept]),
        *rare_class_remarks(classes, y),
    )
    return Splits(train, validation, test, classes, encoder, remarks)


def class_names(labels: Sequence[str], kind: str = "images") -> tuple[str, ...]:
    """The classes in label order: by number where all are numbers, else by name."""
    names = sorted(set(labels))
    if not 2 <= len(names) <= MAX_CLASSES:
        raise InputError(
            f"expected {kind} of 2 to {MAX_CLASSES:,} classes, got {len(names):,}: {listed(names)}"
        )
    return tuple(sorted(names, key=int) if all(map(str.isdecimal, names)) else names)


def usual_size(paths: Sequence[Path], most: int = MAX_DEFAULT_SIZE) -> int:
    """The median of the shorter sides of some images, at most this many pixels."""
    from PIL import Image

    sides = []
    with warnings.catch_warnings(action="ignore"):
        for path in paths[:: -(-len(paths) // SAMPLED)]:
            try:
                with Image.open(path, formats=FORMATS) as image:
                    sides.append(min(image.size))
            except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
                continue
    return min(median_low(sides), most) if sides else most


def decoded_images(encoder: PhotoEncoder, paths: Sequence[Path]) -> tuple[str, Mapped]:
    """The cache key and the array of all files in their order; rows of unreadable ones are zero."""
    key = hashlib.sha256(repr(encoder).encode())
    for path in paths:
        status = path.stat()
        said = f"{path.absolute()}|{status.st_size}|{status.st_mtime_ns}"
        key.update(said.encode("utf-8", "surrogateescape"))
    fill = partial(decode_into, encoder=encoder, paths=paths)
    return key.hexdigest(), mapped(key.hexdigest(), (len(paths), *encoder.shape), fill)


def decode_into(
    array: np.ndarray, encoder: PhotoEncoder, paths: Sequence[Path]
) -> dict[str, list[Any]]:
    """Decode every file into its row; sizes, checksums of the rows, and what could not be read."""

    def decode_row(k: int) -> tuple[str, str, str]:
        try:
            content = read_bytes(paths[k], MAX_PICTURE)
            pixels = decode_quietly(content, encoder.mode, str(paths[k]))
        except InputError as error:
            return "", "", str(error)
        array[k] = encoder.square(pixels)
        digest = hashlib.blake2b(array[k].tobytes(), digest_size=16).hexdigest()
        return f"{pixels.shape[1]} × {pixels.shape[0]}", digest, ""

    rows: list[tuple[str, str, str]] = []
    with (
        warnings.catch_warnings(action="ignore"),
        ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool,  # Pillow releases the GIL
    ):
        for start in range(0, len(paths), BLOCK):
            rows += pool.map(decode_row, range(start, min(start + BLOCK, len(paths))))
    sizes, digests, errors = zip(*rows, strict=True)
    counted = Counter(size for size in sizes if size)
    return {
        "sizes": [[size, number] for size, number in counted.most_common()],
        "digests": list(digests),
        "errors": [error for error in errors if error],
    }


def divided(
    y: Tensor, copies: Tensor, parts: Tensor | None, seed: int, fractions: tuple[float, float]
) -> list[Tensor]:
    """The rows of train, validation and test; copies of one image stay together.

    Where the splits are given, a copy of a test or validation image leaves the training split.
    """
    first = torch.full((int(copies.max()) + 1,), len(y)).scatter_reduce(
        0, copies, torch.arange(len(y)), "amin"
    )
    given = torch.zeros_like(y) if parts is None else parts
    part = torch.zeros_like(first).scatter_reduce(0, copies, given, "amax")
    kept = given == part[copies]  # before splits are drawn from train
    number = int((part == 0).sum())
    for split, fraction, drawn_by in ((2, fractions[0], TEST_SEED), (1, fractions[1], seed)):
        if not (part == split).any():
            rest = (part == 0).nonzero().squeeze(1)
            held = stratified_indices(y[first][rest], round(fraction * number), drawn_by)[1]
            part[rest[held]] = split
    return [((part[copies] == k) & kept).nonzero().squeeze(1) for k in range(len(PARTS))]


def ordered(key: str, array: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The rows in another order, also on the disk: each split is one piece of it."""

    def copy(target: np.ndarray) -> None:
        for start in range(0, len(order), ROWS):
            target[start : start + ROWS] = array[order[start : start + ROWS]]

    name = f"{key}|{hashlib.sha256(order.tobytes()).hexdigest()}"
    return mapped(name, (len(order), *array.shape[1:]), copy).array


def found_remarks(
    classes: tuple[str, ...], y: Tensor, sizes: list[list[Any]], encoder: PhotoEncoder
) -> list[str]:
    """How many images there are of each class, and what became of their sizes."""
    counts = torch.bincount(y, minlength=len(classes)).tolist()
    each = [f"{name} ({n:,})" for name, n in zip(classes, counts, strict=True)]
    target = f"{encoder.size} × {encoder.size}"
    found = [f"{len(y):,} images of {len(classes):,} classes: {shortened(each, 10)}"]
    if [size for size, _ in sizes] != [target]:
        words = [f"{size} ({n:,})" for size, n in sizes]
        done = {"crop": "cropped to squares", "pad": "padded with black", "stretch": "stretched"}
        found.append(
            f"sizes {shortened(words, SHOWN)}: all are {done[encoder.resize]} and resized to "
            f"{target}"
        )
    return found


def shortened(words: Sequence[str], most: int) -> str:
    """The first words, and how many more there are."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def error_remarks(errors: Sequence[str]) -> list[str]:
    """Files that could not be read."""
    if not errors:
        return []
    more = f"; and {len(errors) - SHOWN:,} more" if len(errors) > SHOWN else ""
    return [f"files that were left out: {len(errors):,} ({'; '.join(errors[:SHOWN])}{more})"]


def copy_remarks(
    y: Tensor,
    copies: Tensor,
    parts: Tensor | None,
    names: Sequence[str],
    kind: str = "images",
) -> list[str]:
    """Files that are there more than once, with several labels, or in several given splits."""
    number = torch.bincount(copies)
    several = number[copies] > 1
    if not several.any():
        return []
    extra = len(copies) - len(number)
    named = [names[k] for k in several.nonzero().squeeze(1).tolist()]
    found = [f"copies of other {kind}: {extra:,} ({listed(named, SHOWN)}); they share a split"]
    if n := len(disagreeing(copies, y)):
        found.append(f"{kind} that are there with different labels: {n:,}; look at them")
    if parts is not None and (n := len(disagreeing(copies, parts))):
        found.append(
            f"{kind} that are in more than one of the given splits: {n:,}; they were left out of "
            "the training split, or of validation where they are also in test"
        )
    return found


def disagreeing(copies: Tensor, values: Tensor) -> Tensor:
    """Groups of copies whose values differ."""
    none = torch.zeros(int(copies.max()) + 1, dtype=values.dtype)
    least, most = (
        none.scatter_reduce(0, copies, values, how, include_self=False) for how in ("amin", "amax")
    )
    return (least != most).nonzero().squeeze(1)

"""Your own images with masks: a class for every pixel, as three splits.

    images/a.jpg    masks/a.png          a mask has the path of its image, and the same size
    images/train/a.jpg  masks/train/a.png       the same with given splits

The values, palette indices or colors of the masks are the classes. Images and masks are stretched
to one square, masks without averaging. Images are kept as bytes on the disk, and copies of an image
are never divided among the splits. Notes: A 1.3.1 (step 0).
"""

import hashlib
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import Natural, Share, checked
from chainrule.data.cache import Mapped, mapped
from chainrule.data.files import FileError, read_bytes
from chainrule.data.readers.images.image_files import drawn_remarks
from chainrule.data.readers.images.image_pairs import check_sizes, pairs
from chainrule.data.readers.images.images import (
    SHOWN,
    copy_remarks,
    divided,
    error_remarks,
    ordered,
    shortened,
    usual_size,
)
from chainrule.data.readers.images.masks import MAX_VALUES, Mask, MaskFormat, decode_mask
from chainrule.data.readers.images.photos import PhotoEncoder
from chainrule.data.readers.images.pixels import MAX_PICTURE, decode_quietly
from chainrule.data.readers.tables.table import MIN_ROWS
from chainrule.data.splits import Seed, Split, Splits
from chainrule.errors import InputError

MAX_DEFAULT_SIZE = 128
MAX_MASK_CLASSES = 64
PLANES = 3  # bytes of a mask value


class Row(NamedTuple):
    """What was found in an image and its mask; `error` says why there is no such row."""

    digest: str = ""
    size: str = ""
    kind: str = ""
    palette: tuple[int, ...] = ()
    error: str = ""
    unequal: str = ""


@checked
def masked_images(
    folder: str | Path,
    masks: str | Path,
    seed: Seed = 0,
    size: Natural = 0,
    gray: bool = False,
    max_classes: Natural = MAX_MASK_CLASSES,
    test_fraction: Share = 0.2,
    validation_fraction: Share = 0.2,
) -> Splits:
    """The three splits of images and the classes of their pixels, y (n, size, size).

    folder: of images. Sub-folders named train, and validation, test or both, are the splits.
    masks: folder of PNG files; each has the path of its image, except for the ending.
    seed: draws the validation split; the test split is always the same.
    size: height and width of the images; 0 takes the median of the shorter sides, at most 128.
    gray: whether the colors of the images are dropped.
    max_classes: how many different values the masks may have.
    test_fraction: size of the test split, unless it is given.
    validation_fraction: size of the validation split, unless it is given.

    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for k in range(15):
    ...         for name, gray in (("images", 10 * k), ("masks", 255)):
    ...             Path(place, name).mkdir(exist_ok=True)
    ...             image = Image.new("L", (8, 8))
    ...             image.paste(gray, (0, 0, 4, 8))
    ...             image.save(Path(place, name, f"{k}.png"))
    ...     data = masked_images(f"{place}/images", f"{place}/masks")
    >>> data.train.x.shape, data.train.y.shape, len(data.classes)
    (torch.Size([9, 3, 8, 8]), torch.Size([9, 8, 8]), 2)
    """
    folder, masks = Path(folder), Path(masks)
    paths, partners, given = pairs(folder, masks)
    side = size or usual_size(paths, MAX_DEFAULT_SIZE)
    encoder = PhotoEncoder(side, 1 if gray else 3, "stretch")
    key, decoded = decoded_pairs(encoder, paths, partners)
    rows = [Row(*row) for row in decoded.notes]
    check_sizes([row.unequal for row in rows if row.unequal])
    kept = [k for k, row in enumerate(rows) if row.digest]
    errors = [row.error for row in rows if row.error]
    if len(kept) < MIN_ROWS:
        raise InputError(
            f"{folder} holds {len(kept)} images with masks that can be read; expected at least "
            f"{MIN_ROWS}" + (f"; {errors[0]}" if errors else "")
        )
    form = mask_format(
        decoded.array[:, encoder.channels :],
        {partners[k]: rows[k] for k in kept},
        np.array(kept),
        max_classes,
    )
    copies = torch.from_numpy(np.unique([rows[k].digest for k in kept], return_inverse=True)[1])
    parts = torch.tensor([given[k] for k in kept]) if given else None
    alike = torch.zeros(len(kept), dtype=torch.int64)
    split_rows = divided(alike, copies, parts, seed, (test_fraction, validation_fraction))
    order = torch.tensor(kept)[torch.cat(split_rows)].numpy()
    x = torch.from_numpy(ordered(key, decoded.array[:, : encoder.channels], order))
    y = class_maps(decoded.array[:, encoder.channels :], order, form)
    sizes = [len(part) for part in split_rows]
    train, validation, test = map(Split, x.split(sizes), y.split(sizes))
    remarks = (
        *found_remarks(form, y, [rows[k].size for k in kept], encoder),
        *error_remarks(errors),
        *drawn_remarks(given),
        *copy_remarks(alike, copies, parts, [str(paths[k].relative_to(folder)) for k in kept]),
    )
    classes = form.names()
    return Splits(train, validation, test, classes, replace(encoder, mask=form), remarks)


def decoded_pairs(
    encoder: PhotoEncoder, paths: Sequence[Path], partners: Sequence[Path]
) -> tuple[str, Mapped]:
    """The cache key, and images above masks as bytes; rows of unreadable ones are zero."""
    key = hashlib.sha256(repr(encoder).encode())
    for path in (*paths, *partners):
        status = path.stat()
        said = f"{path.absolute()}|{status.st_size}|{status.st_mtime_ns}"
        key.update(said.encode("utf-8", "surrogateescape"))
    shape = (len(paths), encoder.channels + PLANES, encoder.size, encoder.size)
    fill = partial(decode_into, encoder=encoder, paths=paths, partners=partners)
    return key.hexdigest(), mapped(key.hexdigest(), shape, fill)


def decode_into(
    array: np.ndarray, encoder: PhotoEncoder, paths: Sequence[Path], partners: Sequence[Path]
) -> list[list[Any]]:
    """Decode every pair into its row, and say what was found."""

    def decode_row(k: int) -> Row:
        try:
            content = read_bytes(paths[k], MAX_PICTURE)
            pixels = decode_quietly(content, encoder.mode, str(paths[k]))
            mask = decode_mask(read_bytes(partners[k], MAX_PICTURE), str(partners[k]))
        except FileError as error:
            return Row(error=str(error))
        except InputError as error:
            return Row(error=str(error))
        (height, width), (rows, columns) = pixels.shape[:2], mask.values.shape
        if (height, width) != (rows, columns):
            return Row(
                unequal=f"{partners[k].name} ({columns} × {rows}, its image {width} × {height})"
            )
        array[k, : encoder.channels] = encoder.square(pixels)
        array[k, encoder.channels :] = small_planes(mask, encoder.size)
        digest = hashlib.blake2b(array[k, : encoder.channels].tobytes(), digest_size=16)
        return Row(digest.hexdigest(), f"{width} × {height}", mask.kind, mask.palette)

    with (
        warnings.catch_warnings(action="ignore"),
        ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool,  # Pillow releases the GIL
    ):
        return [list(row) for row in pool.map(decode_row, range(len(paths)))]


def small_planes(mask: Mask, size: int) -> np.ndarray:
    """The nearest values at each place of a square, as bytes (3, size, size), highest first."""
    height, width = mask.values.shape
    rows, columns = (((np.arange(size) + 0.5) * n / size).astype(int) for n in (height, width))
    values = mask.values[rows[:, None], columns].astype(np.int64)
    return np.stack([(values >> shift) & 255 for shift in (16, 8, 0)]).astype(np.uint8)


def packed(planes: np.ndarray) -> np.ndarray:
    """The values of bytes (…, 3, size, size)."""
    high, middle, low = np.moveaxis(planes, -3, 0).astype(np.int64)
    return (high << 16) + (middle << 8) + low


def mask_format(
    planes: np.ndarray, rows: dict[Path, Row], kept: np.ndarray, max_classes: int
) -> MaskFormat:
    """The values of all masks, which must be of one kind."""
    kinds = {row.kind: path.name for path, row in rows.items()}
    if len(kinds) > 1:
        words = " and ".join(f"{kind} ({name})" for kind, name in sorted(kinds.items()))
        raise InputError(f"the masks are of different kinds: {words}; save all in one way")
    limit, found = min(max_classes, MAX_VALUES), np.zeros(0, np.int64)
    for k in kept.tolist():
        found = np.union1d(found, packed(planes[k]))
        if len(found) > limit:
            raise InputError(
                f"the masks have more than {limit} different values; expected one for each class: "
                "save them without smoothing or shading, or raise `max_classes` (at most "
                f"{MAX_VALUES})"
            )
    if len(found) < 2:
        raise InputError("every pixel of the masks has the same value; expected two or more")
    palette = one_palette(rows, found)
    return MaskFormat(next(iter(kinds)), tuple(found.tolist()), palette)


def one_palette(rows: dict[Path, Row], values: np.ndarray) -> tuple[int, ...]:
    """The palette of all masks; refuses masks that give one index different colors."""
    (first, row), *others = rows.items()
    colors = np.array(row.palette).reshape(-1, 3)
    for path, other in others:
        if other.palette == row.palette:
            continue
        differ = [v for v in values if (np.reshape(other.palette, (-1, 3))[v] != colors[v]).any()]
        if differ:
            raise InputError(
                f"the palettes of {first.name} and {path.name} differ at index {differ[0]}; save "
                "all masks with one palette, or as colors"
            )
    return tuple(row.palette)


def class_maps(planes: np.ndarray, order: np.ndarray, form: MaskFormat) -> Tensor:
    """The class of every pixel, in this order of the rows."""
    found = np.empty((len(order), *planes.shape[2:]), np.int64)
    for place, k in enumerate(order):
        found[place] = np.searchsorted(form.values, packed(planes[k]))
    return torch.from_numpy(found)


def found_remarks(
    form: MaskFormat, y: Tensor, sizes: Sequence[str], encoder: PhotoEncoder
) -> list[str]:
    """The classes with their shares of all pixels, and what became of the sizes."""
    share = torch.bincount(y.flatten(), minlength=len(form.values)).double() / y.numel()
    each = [f"{n} ({100 * s:.2g} %)" for n, s in zip(form.names(), share.tolist(), strict=True)]
    found = [
        f"{len(y):,} images with {form.kind} masks of {len(each)} classes: {shortened(each, 10)}"
    ]
    target = f"{encoder.size} × {encoder.size}"
    if {*sizes} != {target}:
        common = sorted({*sizes}, key=lambda size: (-sizes.count(size), size))
        words = [f"{size} ({sizes.count(size):,})" for size in common[:SHOWN]]
        more = f" and {len(common) - SHOWN:,} more" if len(common) > SHOWN else ""
        found.append(f"sizes {', '.join(words)}{more}: all are stretched to {target}")
    return found

"""USPS zip codes: 9,298 handwritten digits from envelopes.

Gray images of 16×16, bright ink on a dark background, rescaled from the published [-1, 1] to
[0, 1]. The authors' 2,007 test digits are the test split; the seed draws the validation split from
the 7,291 others.
"""

from pathlib import Path

import numpy as np
import torch

from chainrule.data import cache
from chainrule.data.files import exists, gunzip, reading
from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.readers.npy import npz_arrays
from chainrule.data.splits import About, Split, Splits, hold_out

ABOUT = About(
    task="classification",
    source="https://hastie.su.domains/ElemStatLearn/datasets/",
    license="not stated by the publishers",
    citation="Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, 11.7",
    shapes="x (n, 1, 16, 16) in [0, 1]; y 10 classes; 6,291 / 1,000 / 2,007",
)
SIZES = (7_291, 2_007)


def load(folder: Path | None = None, seed: int = 0, validation: int = 1_000) -> Splits:
    """validation: size of the validation split."""
    both = cache.folder(folder) / "usps_zip/zip.npy.npz"
    train, test = from_array(both) if exists(both) else from_text(folder)
    train, held = hold_out(train.x, train.y, validation, seed)
    classes = tuple("0123456789")
    return Splits(train, held, test, classes, ImageEncoder(size=16, margin=0.0))


def from_array(path: Path) -> tuple[Split, Split]:
    """Both parts from one array of rows: digit, 256 pixels, and 1 for a test row."""
    rows = cache.decoded(path, read_array)
    if rows.ndim != 2 or rows.shape[1] != 258 or (rows[:, 257] == 1).sum() != SIZES[1]:
        raise cache.damaged(path, "expected 258 columns, the last 1 in 2007 rows")
    is_test = rows[:, 257:] == 1
    parts = rows[~is_test[:, 0], :257], rows[is_test[:, 0], :257]
    train, test = (checked(path, part, size) for part, size in zip(parts, SIZES, strict=True))
    return train, test


def from_text(folder: Path | None) -> tuple[Split, Split]:
    """Both parts from the two text files that the authors publish."""
    names = ("zip.train.gz", "zip.test.gz")
    paths = [cache.fetch(f"usps_zip/{name}", ABOUT.source + name, None, folder) for name in names]
    train, test = (
        checked(path, cache.decoded(path, read_text), size)
        for path, size in zip(paths, SIZES, strict=True)
    )
    return train, test


def read_array(path: Path) -> np.ndarray:
    (found,) = npz_arrays(path, ["arr_0"])
    return np.atleast_2d(found)


def read_text(path: Path) -> np.ndarray:
    content = gunzip(path)
    with reading(path):
        rows = [line.split() for line in content.decode("ascii").splitlines()]
        return np.atleast_2d(np.array([row for row in rows if row], np.float64))


def checked(path: Path, rows: np.ndarray, size: int) -> Split:
    """Rows of digit and 256 pixels as tensors; wrong sizes or ranges are refused."""
    if rows.shape != (size, 257):
        raise cache.damaged(path, f"expected {size} rows of 257 numbers, got {rows.shape}")
    digit, pixels = rows[:, 0], rows[:, 1:]
    if not (np.isin(digit, range(10)).all() and (np.abs(pixels) <= 1).all()):
        raise cache.damaged(path, "expected digits from 0 to 9 and pixels from -1 to 1")
    x = torch.from_numpy((pixels + 1) / 2).float().reshape(-1, 1, 16, 16)
    return Split(x, torch.from_numpy(digit).long())

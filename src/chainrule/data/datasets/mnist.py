"""MNIST: 70,000 handwritten digits.

Gray images of 28×28 in [0, 1], bright ink on a dark background. The official 10,000 test digits
are the test split; the seed draws the validation split from the 60,000 others.
"""

from pathlib import Path

from chainrule.data.readers.images.idx import fetch_idx, idx_splits
from chainrule.data.splits import About, Splits

ABOUT = About(
    task="classification",
    source="https://ossci-datasets.s3.amazonaws.com/mnist/",
    license="CC BY-SA 3.0",
    citation="LeCun, Cortes and Burges (1998), The MNIST database of handwritten digits",
    shapes="x (n, 1, 28, 28) in [0, 1]; y 10 classes; 55,000 / 5,000 / 10,000",
)
CHECKSUMS = [
    "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "d53e105ee54ea40749a09fcbcd1e9432",
    "9fb629c4189551a2d022fa330f9573f3",
    "ec29112dd5afa0611ce80d1b7f02629c",
]
CLASSES = tuple("0123456789")
MARGIN = 4 / 28  # the longer side of every digit is 20 pixels


def load(folder: Path | None = None, seed: int = 0, validation: int = 5_000) -> Splits:
    """validation: size of the validation split."""
    paths = fetch_idx("mnist", ABOUT.source, CHECKSUMS, folder)
    return idx_splits(paths, CLASSES, validation, seed, MARGIN)

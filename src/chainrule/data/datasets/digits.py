"""Digits: 1,797 small handwritten digits, part of scikit-learn.

Gray images of 8×8 in [0, 1], bright ink on a dark background, each digit as tall as its image. The
360 test digits are fixed and stratified; the seed draws the 237 validation digits.
"""

from pathlib import Path

import torch

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.splits import About, Splits, three_way_split

ABOUT = About(
    task="classification",
    source="scikit-learn, sklearn.datasets.load_digits (UCI 80)",
    license="CC BY 4.0",
    citation="Alpaydin and Kaynak (1998), Optical recognition of handwritten digits",
    shapes="x (n, 1, 8, 8) in [0, 1]; y 10 classes; 1,200 / 237 / 360",
)


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x = torch.from_numpy(images).float().div(16).reshape(-1, 1, 8, 8)
    parts = three_way_split(x, torch.from_numpy(labels).long(), 360, 237, seed)
    return Splits(*parts, classes=tuple("0123456789"), encoder=ImageEncoder(size=8, margin=0.0))

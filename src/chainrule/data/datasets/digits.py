"""Digits: 1,797 small handwritten digits, part of scikit-learn.

Gray images of 8×8 in [0, 1], bright ink on a dark background, each digit as tall as its image. The
360 test digits are fixed and stratified; the seed draws the 237 validation digits.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.readers.encoders import ImageEncoder
from chainrule.data.splits import About, Splits, three_way_split
from chainrule.errors import InputError

ABOUT = About(
    task="classification",
    source="scikit-learn, sklearn.datasets.load_digits (UCI 80)",
    license="CC BY 4.0",
    citation="Alpaydin and Kaynak (1998), Optical recognition of handwritten digits",
    shapes="x (n, 1, 8, 8) in [0, 1]; y 10 classes; 1,200 / 237 / 360",
)


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    table = torch.from_numpy(read())
    x = table[:, :-1].float().div(16).reshape(-1, 1, 8, 8)
    parts = three_way_split(x, table[:, -1].long(), 360, 237, seed)
    return Splits(*parts, classes=tuple("0123456789"), encoder=ImageEncoder(size=8, margin=0.0))


def prototypes(wanted: tuple[int, ...]) -> Float[Tensor, "digits 64"]:
    """The mean image of each wanted digit as ±1 at half its brightness."""
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(range(10)):
        raise InputError(f"expected different digits from 0 to 9, got {wanted}")
    x, y = load().train
    means = torch.stack([x[y == digit].mean(0).flatten() for digit in wanted])
    return torch.where(means > means.amax(1, keepdim=True) / 2, 1.0, -1.0)


def read() -> np.ndarray:
    """Pixels and label of every digit, from scikit-learn's file: importing it all takes seconds."""
    package = find_spec("sklearn")
    for place in package.submodule_search_locations or () if package else ():
        path = Path(place, "datasets", "data", "digits.csv.gz")
        if path.is_file():
            return np.loadtxt(path, delimiter=",")
    from sklearn.datasets import load_digits

    return np.column_stack(load_digits(return_X_y=True))

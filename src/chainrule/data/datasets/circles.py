"""Two circles, one inside the other: solved by the distance from the center.

The points are drawn once for all; the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits

ABOUT = about("scikit-learn, sklearn.datasets.make_circles")


def sample(number: int, noise: float, seed: int) -> Split:
    from sklearn.datasets import make_circles

    check(number, noise)
    x, y = make_circles(number, noise=noise, factor=0.5, random_state=seed)
    return Split(torch.from_numpy(x).float(), torch.from_numpy(y))


def load(
    folder: Path | None = None, seed: int = 0, number: int = 1_000, noise: float = 0.1
) -> Splits:
    return toy_splits(sample(number, noise, SAMPLE_SEED), ("outer", "inner"), seed)

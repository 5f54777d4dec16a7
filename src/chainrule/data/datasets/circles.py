"""Two circles, one inside the other: the distance from the center separates them.

The points never change; the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits

ABOUT = about("scikit-learn, sklearn.datasets.make_circles")


def sample(num_samples: int, noise: float, seed: int) -> Split:
    from sklearn.datasets import make_circles

    check(num_samples, noise)
    x, y = make_circles(num_samples, noise=noise, factor=0.5, random_state=seed)
    return Split(torch.from_numpy(x).float(), torch.from_numpy(y))


def load(
    folder: Path | None = None, seed: int = 0, num_samples: int = 1_000, noise: float = 0.1
) -> Splits:
    """num_samples: points in all three splits.
    noise: standard deviation of the noise on each coordinate.
    """
    return toy_splits(sample(num_samples, noise, SAMPLE_SEED), ("outer", "inner"), seed)

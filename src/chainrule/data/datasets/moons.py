"""Two interleaving half circles: the smallest problem a straight line cannot solve.

The points are drawn once for all; the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits

ABOUT = about("scikit-learn, sklearn.datasets.make_moons")


def sample(number: int, noise: float, seed: int) -> Split:
    from sklearn.datasets import make_moons

    check(number, noise)
    x, y = make_moons(number, noise=noise, random_state=seed)
    return Split(torch.from_numpy(x).float(), torch.from_numpy(y))


def load(
    folder: Path | None = None, seed: int = 0, number: int = 1_000, noise: float = 0.1
) -> Splits:
    return toy_splits(sample(number, noise, SAMPLE_SEED), ("upper", "lower"), seed)

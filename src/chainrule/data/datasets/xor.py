"""Exclusive or: four noisy clusters at (±1, ±1), labeled by whether the signs differ.

No line separates the classes; without noise they are the four corners of Minsky and Papert's
example. The points never change; the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits

ABOUT = about("Minsky and Papert (1969), Perceptrons")


def sample(num_samples: int, noise: float, seed: int) -> Split:
    check(num_samples, noise)
    generator = torch.Generator().manual_seed(seed)
    corners = torch.tensor([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    corner = torch.arange(num_samples) % 4
    x = corners[corner] + noise * torch.randn(num_samples, 2, generator=generator)
    return Split(x, corner // 2)


def load(
    folder: Path | None = None, seed: int = 0, num_samples: int = 1_000, noise: float = 0.3
) -> Splits:
    """num_samples: points in all three splits.
    noise: standard deviation of the noise on each coordinate.
    """
    return toy_splits(sample(num_samples, noise, SAMPLE_SEED), ("same", "different"), seed)

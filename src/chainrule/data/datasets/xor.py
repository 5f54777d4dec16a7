"""Exclusive or: four noisy clusters at (±1, ±1), told apart by whether the signs differ.

No line separates them; without noise they are the four corners of Minsky and Papert's example. The
points are drawn once for all; the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.toys import SAMPLE_SEED, about, check, toy_splits

ABOUT = about("Minsky and Papert (1969), Perceptrons")


def sample(number: int, noise: float, seed: int) -> Split:
    check(number, noise)
    generator = torch.Generator().manual_seed(seed)
    corners = torch.tensor([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    corner = torch.arange(number) % 4
    x = corners[corner] + noise * torch.randn(number, 2, generator=generator)
    return Split(x, corner // 2)


def load(
    folder: Path | None = None, seed: int = 0, number: int = 1_000, noise: float = 0.3
) -> Splits:
    return toy_splits(sample(number, noise, SAMPLE_SEED), ("same", "different"), seed)

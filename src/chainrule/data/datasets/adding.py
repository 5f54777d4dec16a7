"""Adding problem: the sum of the two marked numbers of a long sequence.

    x_t = (u_t, m_t),   u_t uniform on [0, 1],   m_t = 1 at two steps, one in each half, else 0
    y   = Σ_t m_t u_t

Always predicting 1 has a mean squared error of 1/6. The sequences never change; the seed draws the
validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import About, Split, Splits, three_way_split
from chainrule.errors import InputError

SAMPLE_SEED = 0  # a constant: the user's seed only splits the sequences
ABOUT = About(
    "regression",
    "generated",
    "none needed",
    "Hochreiter and Schmidhuber (1997), Neural Computation 9; as in Le, Jaitly and Hinton (2015)",
    "x (n, length, 2); y a number from 0 to 2; 80 / 10 / 10 %",
)


def sample(num_samples: int, length: int, seed: int) -> Split:
    """`num_samples` sequences of `length` steps."""
    if num_samples < 20:
        raise InputError(f"num_samples must be at least 20, got {num_samples}")
    if length < 2:
        raise InputError(f"length must be at least 2, got {length}")
    generator = torch.Generator().manual_seed(seed)
    u, half = torch.rand(num_samples, length, generator=generator), length // 2
    first = torch.randint(half, (num_samples, 1), generator=generator)
    second = torch.randint(half, length, (num_samples, 1), generator=generator)
    m = torch.zeros_like(u).scatter_(1, torch.cat([first, second], 1), 1.0)
    return Split(torch.stack([u, m], 2), (u * m).sum(1))


def load(
    folder: Path | None = None, seed: int = 0, num_samples: int = 1_000, length: int = 50
) -> Splits:
    """num_samples: sequences in all three splits.
    length: steps of each sequence.
    """
    x, y = sample(num_samples, length, SAMPLE_SEED)
    return Splits(*three_way_split(x, y, num_samples // 10, num_samples // 10, seed))

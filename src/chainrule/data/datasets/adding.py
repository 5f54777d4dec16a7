"""Adding: find the two marked numbers of a long sequence and give their sum.

    x_t = (u_t, m_t),   u_t uniform on [0, 1],   m_t = 1 at two steps, one in each half, else 0
    y   = Σ_t m_t u_t

Answering 1 whatever comes has a mean squared error of 1/6. The sequences are drawn once for all;
the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import About, Split, Splits, three_way
from chainrule.errors import InputError

SAMPLE_SEED = 0  # a constant: the sequences are always the same, the user's seed only splits them
ABOUT = About(
    "regression",
    "generated",
    "none needed",
    "Hochreiter and Schmidhuber (1997), Neural Computation 9; as in Le, Jaitly and Hinton (2015)",
    "x (n, length, 2); y a number from 0 to 2; 80 / 10 / 10 %",
)


def sample(number: int, length: int, seed: int) -> Split:
    """`number` sequences of `length` steps."""
    if number < 20 or length < 2:
        raise InputError(
            f"expected 20 sequences or more and a length of at least 2, got {number} and {length}"
        )
    generator = torch.Generator().manual_seed(seed)
    u, half = torch.rand(number, length, generator=generator), length // 2
    first = torch.randint(half, (number, 1), generator=generator)
    second = torch.randint(half, length, (number, 1), generator=generator)
    m = torch.zeros_like(u).scatter_(1, torch.cat([first, second], 1), 1.0)
    return Split(torch.stack([u, m], 2), (u * m).sum(1))


def load(
    folder: Path | None = None, seed: int = 0, number: int = 1_000, length: int = 50
) -> Splits:
    x, y = sample(number, length, SAMPLE_SEED)
    return Splits(*three_way(x, y, number // 10, number // 10, seed))

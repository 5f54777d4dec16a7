"""Copying: read ten symbols, wait for a given number of steps, then write them down again.

    symbols 1 … 10, blanks …, a signal, ten blanks        length + 20 steps
    answer: the ten symbols, at the last ten steps

Eight symbols, a blank and a signal as ten one-hot inputs. Guessing errs in 7/8 of the symbols, and
nothing in the last steps tells which symbols were read: only memory helps. The sequences are drawn
once for all; the seed draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import About, Split, Splits, draw
from chainrule.errors import InputError

SYMBOLS, TO_COPY = 8, 10
BLANK, SIGNAL = SYMBOLS, SYMBOLS + 1
SAMPLE_SEED = 0  # a constant: the sequences are always the same, the user's seed only splits them
ABOUT = About(
    "classification",
    "generated",
    "none needed",
    "Hochreiter and Schmidhuber (1997), Neural Computation 9; as in Arjovsky et al. (2016), ICML",
    "x (n, length + 20, 10) one-hot; y (n, 10) of 8 symbols; 80 / 10 / 10 %",
)


def sample(number: int, length: int, seed: int) -> Split:
    """`number` sequences in which the symbols must be kept for `length` steps."""
    if number < 20 or length < 1:
        raise InputError(
            f"expected 20 sequences or more and a length of at least 1, got {number} and {length}"
        )
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(SYMBOLS, (number, TO_COPY), generator=generator)
    steps = torch.full((number, length + 2 * TO_COPY), BLANK)
    steps[:, :TO_COPY] = y
    steps[:, -TO_COPY - 1] = SIGNAL
    return Split(torch.nn.functional.one_hot(steps, SYMBOLS + 2).float(), y)


def load(
    folder: Path | None = None, seed: int = 0, number: int = 1_000, length: int = 20
) -> Splits:
    x, y = sample(number, length, SAMPLE_SEED)
    tenth = number // 10
    rest, held = draw(torch.zeros(number - tenth), tenth, seed)
    test, (x, y) = Split(x[:tenth], y[:tenth]), (x[tenth:], y[tenth:])
    return Splits(Split(x[rest], y[rest]), Split(x[held], y[held]), test, tuple("abcdefgh"))

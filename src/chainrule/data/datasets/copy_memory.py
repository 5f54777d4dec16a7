"""Copy task: read ten symbols, wait for a given number of steps, then repeat them.

    symbols 1 … 10, blanks …, a signal, ten blanks        length + 20 steps
    target: the ten symbols, at the last ten steps

Eight symbols, a blank and a signal as ten one-hot inputs. Guessing is wrong for 7/8 of the symbols,
and nothing in the last steps reveals them: only memory helps. The sequences never change; the seed
draws the validation split.
"""

from pathlib import Path

import torch

from chainrule.data.splits import About, Split, Splits, stratified_indices
from chainrule.errors import InputError

SYMBOLS, TO_COPY = 8, 10
BLANK, SIGNAL = SYMBOLS, SYMBOLS + 1
SAMPLE_SEED = 0  # a constant: the user's seed only splits the sequences
ABOUT = About(
    "classification",
    "generated",
    "none needed",
    "Hochreiter and Schmidhuber (1997), Neural Computation 9; as in Arjovsky et al. (2016), ICML",
    "x (n, length + 20, 10) one-hot; y (n, 10) of 8 symbols; 80 / 10 / 10 %",
)


def sample(num_samples: int, length: int, seed: int) -> Split:
    """`num_samples` sequences whose symbols must be remembered for `length` steps."""
    if num_samples < 20:
        raise InputError(f"num_samples must be at least 20, got {num_samples}")
    if length < 1:
        raise InputError(f"length must be at least 1, got {length}")
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(SYMBOLS, (num_samples, TO_COPY), generator=generator)
    steps = torch.full((num_samples, length + 2 * TO_COPY), BLANK)
    steps[:, :TO_COPY] = y
    steps[:, -TO_COPY - 1] = SIGNAL
    return Split(torch.nn.functional.one_hot(steps, SYMBOLS + 2).float(), y)


def load(
    folder: Path | None = None, seed: int = 0, num_samples: int = 1_000, length: int = 20
) -> Splits:
    """num_samples: sequences in all three splits.
    length: steps between the last symbol and the signal.
    """
    x, y = sample(num_samples, length, SAMPLE_SEED)
    tenth = num_samples // 10
    rest, held = stratified_indices(torch.zeros(num_samples - tenth), tenth, seed)
    test, (x, y) = Split(x[:tenth], y[:tenth]), (x[tenth:], y[tenth:])
    return Splits(Split(x[rest], y[rest]), Split(x[held], y[held]), test, tuple("abcdefgh"))

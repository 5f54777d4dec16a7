"""Digit sets: sets of MNIST digits, and the sum or the maximum of what is written on them.

A set is a row of places in the table `images` of all 70,000 digits, -1 where there is none, so that
50,000 sets take no more memory than the digits themselves. Training and validation sets have 1 to
10 digits, all sizes alike often, test sets 20, more than was ever seen in training. The seed holds
out 5,000 of MNIST's training digits, of which the validation sets are made; test sets are made of
MNIST's test digits. As in Zaheer et al. (2017), Deep Sets, 4.1.2.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from chainrule.data.datasets.mnist import ABOUT as MNIST
from chainrule.data.datasets.mnist import CHECKSUMS
from chainrule.data.readers.idx import FILES, bytes_of, fetch_idx, labels_of
from chainrule.data.splits import TEST_SEED, About, Split, Splits, draw
from chainrule.errors import InputError
from chainrule.registry import unknown

ABOUT = About(
    task="regression",
    source=MNIST.source,
    license=MNIST.license,
    citation=MNIST.citation,
    shapes="x (n, 20) places of digits, -1 for none; y numbers; 50,000 / 2,000 / 2,000",
)
PLACES = 20
LARGEST = 10  # digits in a training set
TRAINING, VALIDATION, TESTED = 50_000, 2_000, 2_000  # sets
TARGETS = {"sum": lambda digits: digits.sum(1), "maximum": lambda digits: digits.max(1).values}


@dataclass(frozen=True, repr=False, kw_only=True)
class DigitSets(Splits):
    """Sets as places in a table of images; labels say what is written on each."""

    images: UInt8[Tensor, "digits 28 28"]
    labels: Int[Tensor, " digits"]


def load(
    folder: Path | None = None, seed: int = 0, held_digits: int = 5_000, target: str = "sum"
) -> DigitSets:
    if target not in TARGETS:
        raise InputError(unknown("target of a set", target, list(TARGETS)))
    paths, shapes = fetch_idx("mnist", MNIST.source, CHECKSUMS, folder), list(FILES.values())
    images = np.concatenate([bytes_of(paths[k], shapes[k]) for k in (0, 2)])
    labels = torch.cat([labels_of(paths[k], shapes[k], 10) for k in (1, 3)])
    training = shapes[0][0]
    rest, held = draw(labels[:training], held_digits, seed)
    tested = torch.arange(training, len(labels))
    return DigitSets(
        labeled(sets(rest, (1, LARGEST), TRAINING, TEST_SEED), labels, target),
        labeled(sets(held, (1, LARGEST), VALIDATION, TEST_SEED + 1), labels, target),
        labeled(sets(tested, (PLACES, PLACES), TESTED, TEST_SEED + 2), labels, target),
        images=torch.from_numpy(images),
        labels=labels,
    )


def sets(
    digits: Int[Tensor, " digits"], sizes: tuple[int, int], number: int, seed: int
) -> Int[Tensor, "number places"]:
    """So many sets of these digits, no digit twice in one; sizes: the smallest and the largest."""
    smallest, largest = sizes
    if not 1 <= smallest <= largest <= len(digits):
        raise InputError(
            f"expected sets of at least one digit and at most {len(digits)}, got {sizes}"
        )
    generator = torch.Generator().manual_seed(seed)
    size = torch.randint(smallest, largest + 1, (number, 1), generator=generator)
    chosen = torch.full((number, max(PLACES, largest)), -1)
    chosen[:, :largest] = digits[distinct(len(digits), (number, largest), generator)]
    return chosen.masked_fill(torch.arange(chosen.shape[1]) >= size, -1)


def distinct(
    count: int, shape: tuple[int, int], generator: torch.Generator
) -> Int[Tensor, "rows columns"]:
    """Rows of different ones of so many, each choice as likely as any other."""
    found = torch.randint(count, shape, generator=generator)
    while len(again := twice(found)):
        found[again] = torch.randint(count, (len(again), shape[1]), generator=generator)
    return found


def twice(rows: Int[Tensor, "rows columns"]) -> Int[Tensor, " again"]:
    """The numbers of the rows in which something comes twice."""
    return (rows.sort(1).values.diff(dim=1) == 0).any(1).nonzero()[:, 0]


def labeled(places: Int[Tensor, "n size"], labels: Int[Tensor, " digits"], target: str) -> Split:
    """The sets with the sum or the maximum of their digits; what is not there counts as 0."""
    digits = labels[places.clamp_min(0)] * (places >= 0)
    return Split(places, TARGETS[target](digits).float())


def of_size(data: DigitSets, size: int, number: int, target: str = "sum") -> DigitSets:
    """The same with other test sets: all of this size, made of MNIST's test digits."""
    tested = torch.arange(FILES["train-labels-idx1-ubyte.gz"][0], len(data.labels))
    test = labeled(sets(tested, (size, size), number, TEST_SEED + 3), data.labels, target)
    return replace(data, test=test)

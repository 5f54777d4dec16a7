"""Digit sets: sets of MNIST digits, and the sum or the maximum of the digits.

A set is a row of indices into `images`, all 70,000 digits, padded with -1; so 50,000 sets need
little more memory than the digits. Training and validation sets have 1 to 10 digits, all sizes
equally often; test sets have 20, more than any set in training. The seed draws the 5,000 of MNIST's
training digits from which the validation sets are made; test sets are made of MNIST's test digits.
As in Zaheer et al. (2017), Deep Sets, 4.1.2.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int, UInt8
from torch import Tensor

from chainrule.data.datasets.mnist import ABOUT as MNIST
from chainrule.data.datasets.mnist import CHECKSUMS
from chainrule.data.readers.images.idx import FILES, fetch_idx, load_bytes, load_labels
from chainrule.data.splits import TEST_SEED, About, Split, Splits, stratified_indices
from chainrule.errors import InputError
from chainrule.registry import unknown

ABOUT = About(
    task="regression",
    source=MNIST.source,
    license=MNIST.license,
    citation=MNIST.citation,
    shapes="x (n, 20) indices of digits, padded with -1; y numbers; 50,000 / 2,000 / 2,000",
)
MAX_SIZE = 20  # digits in a test set, and the length of every row
LARGEST = 10  # digits in a training set
TRAINING, VALIDATION, TEST = 50_000, 2_000, 2_000  # sets
TARGETS = {"sum": lambda digits: digits.sum(1), "maximum": lambda digits: digits.max(1).values}


@dataclass(frozen=True, repr=False, kw_only=True)
class DigitSets(Splits):
    """Splits whose x are indices into a table of images.

    images: all digits as bytes.
    labels: the digit that each image shows.
    """

    images: UInt8[Tensor, "digits 28 28"]
    labels: Int[Tensor, " digits"]


def load(
    folder: Path | None = None, seed: int = 0, validation_digits: int = 5_000, target: str = "sum"
) -> DigitSets:
    """validation_digits: training digits of MNIST reserved for validation sets.
    target: "sum" or "maximum".
    """
    if target not in TARGETS:
        raise InputError(unknown("target", target, list(TARGETS)))
    paths, shapes = fetch_idx("mnist", MNIST.source, CHECKSUMS, folder), list(FILES.values())
    images = np.concatenate([load_bytes(paths[k], shapes[k]) for k in (0, 2)])
    labels = torch.cat([load_labels(paths[k], shapes[k], 10) for k in (1, 3)])
    training = shapes[0][0]
    rest, held = stratified_indices(labels[:training], validation_digits, seed)
    test_digits = torch.arange(training, len(labels))
    return DigitSets(
        labeled(sets(rest, (1, LARGEST), TRAINING, TEST_SEED), labels, target),
        labeled(sets(held, (1, LARGEST), VALIDATION, TEST_SEED + 1), labels, target),
        labeled(sets(test_digits, (MAX_SIZE, MAX_SIZE), TEST, TEST_SEED + 2), labels, target),
        images=torch.from_numpy(images),
        labels=labels,
    )


def sets(
    digits: Int[Tensor, " digits"], sizes: tuple[int, int], number: int, seed: int
) -> Int[Tensor, "number columns"]:
    """`number` sets of distinct digits; sizes: the smallest and the largest set."""
    smallest, largest = sizes
    if not 1 <= smallest <= largest <= len(digits):
        raise InputError(
            f"expected sets of at least one digit and at most {len(digits)}, got {sizes}"
        )
    generator = torch.Generator().manual_seed(seed)
    size = torch.randint(smallest, largest + 1, (number, 1), generator=generator)
    chosen = torch.full((number, max(MAX_SIZE, largest)), -1)
    chosen[:, :largest] = digits[distinct(len(digits), (number, largest), generator)]
    return chosen.masked_fill(torch.arange(chosen.shape[1]) >= size, -1)


def distinct(
    count: int, shape: tuple[int, int], generator: torch.Generator
) -> Int[Tensor, "rows columns"]:
    """Rows of distinct numbers below `count`, all choices equally likely."""
    found = torch.randint(count, shape, generator=generator)
    while len(again := rows_with_duplicates(found)):
        found[again] = torch.randint(count, (len(again), shape[1]), generator=generator)
    return found


def rows_with_duplicates(rows: Int[Tensor, "rows columns"]) -> Int[Tensor, " again"]:
    """The indices of the rows that contain a value twice."""
    return (rows.sort(1).values.diff(dim=1) == 0).any(1).nonzero()[:, 0]


def labeled(indices: Int[Tensor, "n size"], labels: Int[Tensor, " digits"], target: str) -> Split:
    """The sets with the sum or the maximum of their digits; padding counts as 0."""
    digits = labels[indices.clamp_min(0)] * (indices >= 0)
    return Split(indices, TARGETS[target](digits).float())


def with_test_size(data: DigitSets, size: int, number: int, target: str = "sum") -> DigitSets:
    """The same data with `number` other test sets, all of this size."""
    test_digits = torch.arange(FILES["train-labels-idx1-ubyte.gz"][0], len(data.labels))
    test = labeled(sets(test_digits, (size, size), number, TEST_SEED + 3), data.labels, target)
    return replace(data, test=test)

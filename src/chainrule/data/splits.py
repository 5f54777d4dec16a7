"""What every data set returns: three splits of tensors, and an encoder for more of the same.

Notes: A 1.3.1 (step 0).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from chainrule.arguments import Range
from chainrule.data import summary
from chainrule.errors import InputError

Seed = Annotated[int, Range("a whole number from 0 to below 2⁶³", 0, 2**63, open_most=True)]
TEST_SEED = 0  # a constant: the user's seed never moves a test split


class Split(NamedTuple):
    """Examples and their targets; `x, y = split` unpacks them.

    x: the examples, batch first.
    y: the target of each example, in the same order: class numbers as int64 or values as float32.

    >>> import torch
    >>> x, y = Split(torch.zeros(3, 2), torch.tensor([0, 1, 1]))
    >>> len(y)
    3
    """

    x: Tensor
    y: Tensor

    def __repr__(self) -> str:
        return f"Split(x {summary.shape(self.x)}, y {summary.shape(self.y)})"

    def _repr_html_(self) -> str:
        return summary.split_html(self)


@runtime_checkable
class Encoder(Protocol):
    """Turns a user's file into the tensor that a model of this data set takes.

    >>> import chainrule as cr
    >>> cr.data.digits().encoder is None
    False
    """

    def encode_file(self, path: str | Path) -> Tensor:
        """The examples of a file, batch first."""

    def to_json(self) -> dict[str, Any]:
        """The encoder as plain values, from which `encoder_from_json` restores it."""


@dataclass(frozen=True, repr=False)
class Splits:
    """A data set ready for training.

    train: the examples to learn from.
    validation: the examples for choosing settings and for early stopping.
    test: the examples for the final metrics.
    classes: the class names in label order; empty for regression.
    encoder: turns a user's file into `x`; None where files make no sense.
    remarks: what was dropped or changed while reading, one sentence each.
    fingerprint: a checksum of the content, where one was taken while reading; else empty.

    >>> import chainrule as cr
    >>> data = cr.data.moons()
    >>> len(data.train.x), len(data.test.y), data.classes
    (600, 200, ('upper', 'lower'))
    """

    train: Split
    validation: Split
    test: Split
    classes: tuple[str, ...] = ()
    encoder: Encoder | None = None
    remarks: tuple[str, ...] = ()
    fingerprint: str = field(default="", kw_only=True)

    def __repr__(self) -> str:
        return summary.splits_text(self)

    def _repr_html_(self) -> str:
        return summary.splits_html(self)


@dataclass(frozen=True, repr=False, kw_only=True)
class BlockSplits(Splits):
    """Splits whose training rows are on the disk; `train` is a sample of them in memory.

    blocks: all training rows, read block by block.
    """

    blocks: Any


@dataclass(frozen=True)
class About:
    """The origin of a data set.

    task: what is learned: classification, regression, segmentation, …
    source: the address or the package it comes from.
    license: the terms of its publishers.
    citation: the paper or book that describes it.
    shapes: the shapes of x and y, and the sizes of the three splits.

    >>> from chainrule.data.datasets.digits import ABOUT
    >>> ABOUT.task
    'classification'
    """

    task: str
    source: str
    license: str
    citation: str
    shapes: str


def stratified_indices(y: Tensor, size: int, seed: int) -> tuple[Tensor, Tensor]:
    """(rest, held out): the row numbers of both parts, in ascending order.

    One example of each class stays in the rest. Of the others, classes are held out in proportion:
    a class with m of the M others gives size · m / M, rounded up or down.

    y: the targets; floating-point targets count as one class.
    size: how many rows are held out.
    seed: decides which.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(y), generator=generator)
    groups = torch.zeros(len(y)) if y.is_floating_point() else y
    order = order[groups[order].argsort(stable=True)]
    first = groups[order].diff(prepend=groups[order[:1]] - 1) != 0
    order = order[~first]
    if not 0 < size <= len(order):
        raise InputError(
            f"cannot hold out {size} of {len(y)} examples; expected a number from 1 to "
            f"{len(order)}, as one of each class stays for training"
        )
    # Equal steps through rows sorted by class visit every class in proportion.
    start = torch.rand((), generator=generator, dtype=torch.float64)
    steps = (torch.arange(size) + start) * len(order) / size
    held = torch.zeros(len(y), dtype=torch.bool)
    held[order[steps.long().clamp(max=len(order) - 1)]] = True
    return (~held).nonzero().squeeze(1), held.nonzero().squeeze(1)


def hold_out(x: Tensor, y: Tensor, size: int, seed: int) -> tuple[Split, Split]:
    """(rest, held out): `size` rows chosen by the seed, both parts in their original order."""
    rest, held = stratified_indices(y, size, seed)
    return Split(x[rest], y[rest]), Split(x[held], y[held])


def three_way_split(
    x: Tensor, y: Tensor, test: int, validation: int, seed: int
) -> tuple[Split, Split, Split]:
    """(train, validation, test) of the given sizes; the seed moves the validation split only."""
    rest, test_split = hold_out(x, y, test, TEST_SEED)
    train, validation_split = hold_out(rest.x, rest.y, validation, seed)
    return train, validation_split, test_split

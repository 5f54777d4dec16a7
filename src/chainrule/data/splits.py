"""What every data set returns: three splits of tensors, and how to read more of the same.

Notes: A 1.3.1 (step 0).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from chainrule.errors import InputError

SHOWN = 20  # class names in the printed form
TEST_SEED = 0  # a constant: the user's seed never moves a test split


class Split(NamedTuple):
    """Examples and their targets, batch first."""

    x: Tensor
    y: Tensor

    def __repr__(self) -> str:
        x, y = (f"{tuple(t.shape)} {str(t.dtype).removeprefix('torch.')}" for t in self)
        return f"Split(x {x}, y {y})"


@runtime_checkable
class Encoder(Protocol):
    """Turns what a user has (a file, rows) into the tensor a model of this data set takes."""

    def encode_file(self, path: str | Path) -> Tensor: ...

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, repr=False)
class Splits:
    """A data set ready for training.

    classes: the class names in label order; empty for regression.
    encoder: reads a user's own file into `x`; None where there is nothing to read.
    notes: what was dropped or changed while reading, one sentence each.
    """

    train: Split
    validation: Split
    test: Split
    classes: tuple[str, ...] = ()
    encoder: Encoder | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        parts = ("train", "validation", "test")
        shown = ", ".join(self.classes[:SHOWN]) + ", …" * (len(self.classes) > SHOWN)
        lines = [
            *(f"{part}: {getattr(self, part)}" for part in parts),
            f"classes: {shown}" if self.classes else "regression",
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n  ".join(["Splits", *lines])


@dataclass(frozen=True)
class About:
    """Where a data set comes from."""

    task: str
    source: str
    license: str
    citation: str
    shapes: str


def draw(y: Tensor, number: int, seed: int) -> tuple[Tensor, Tensor]:
    """(rest, held-out): the row numbers of both parts, in ascending order.

    One example of each class stays in the rest. Of the others, classes are held out in proportion:
    a class with m of the M others gives number · m / M, rounded up or down.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(y), generator=generator)
    groups = torch.zeros(len(y)) if y.is_floating_point() else y
    order = order[groups[order].argsort(stable=True)]
    first = groups[order].diff(prepend=groups[order[:1]] - 1) != 0
    order = order[~first]
    if not 0 < number <= len(order):
        raise InputError(
            f"cannot hold out {number} of {len(y)} examples; expected a number from 1 to "
            f"{len(order)}, as one of each class stays for training"
        )
    # Equal steps through rows sorted by class visit every class in proportion.
    start = torch.rand((), generator=generator, dtype=torch.float64)
    steps = (torch.arange(number) + start) * len(order) / number
    held = torch.zeros(len(y), dtype=torch.bool)
    held[order[steps.long().clamp(max=len(order) - 1)]] = True
    return (~held).nonzero().squeeze(1), held.nonzero().squeeze(1)


def hold_out(x: Tensor, y: Tensor, number: int, seed: int) -> tuple[Split, Split]:
    """(rest, held-out): `number` rows drawn by the seed, both in their original order."""
    rest, held = draw(y, number, seed)
    return Split(x[rest], y[rest]), Split(x[held], y[held])


def three_way(
    x: Tensor, y: Tensor, test: int, validation: int, seed: int
) -> tuple[Split, Split, Split]:
    """(train, validation, test) of the given sizes; the seed moves the validation split only."""
    rest, tested = hold_out(x, y, test, TEST_SEED)
    train, validated = hold_out(rest.x, rest.y, validation, seed)
    return train, validated, tested

"""What every data set returns: three splits of tensors, and how to read more of the same."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from chainrule.errors import InputError


class Split(NamedTuple):
    """Examples and their targets, batch first."""

    x: Tensor
    y: Tensor


class Encoder(Protocol):
    """Turns what a user has (a file, rows) into the tensor a model of this data set takes."""

    def encode_file(self, path: str) -> Tensor: ...

    def to_json(self) -> dict: ...


@dataclass(frozen=True)
class Splits:
    """A data set ready for training.

    classes: the class names in label order; empty for regression.
    encoder: reads a user's own file into `x`; None where there is nothing to read.
    """

    train: Split
    validation: Split
    test: Split
    classes: tuple[str, ...] = ()
    encoder: Encoder | None = None


@dataclass(frozen=True)
class About:
    """Where a data set comes from."""

    task: str
    source: str
    licence: str
    citation: str
    shapes: str


def hold_out(x: Tensor, y: Tensor, number: int, seed: int) -> tuple[Split, Split]:
    """(rest, held-out): `number` rows drawn by the seed, both in their original order."""
    if not 0 < number < len(x):
        raise InputError(
            f"cannot hold out {number} of {len(x)} examples; expected a number from 1 to {len(x) - 1}"
        )
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    held, rest = order[:number].sort().values, order[number:].sort().values
    return Split(x[rest], y[rest]), Split(x[held], y[held])

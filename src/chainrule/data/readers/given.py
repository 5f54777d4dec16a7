"""Data as a user has them, as tensors for the engine: (x, y), ({"x": x}, y), (x, (y, z)).

NumPy arrays, lists, pandas and polars frames     tensors
real numbers                                      in the precision of the model
whole numbers and True or False                   int64; bytes of images stay bytes
a frame as input                                  real numbers, whatever its columns are
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from chainrule.errors import InputError

FEW = 2  # parts of a list, up to which it is (input, target)


class Examples(Dataset[Any]):
    """A list of examples (input, target) as a data set."""

    def __init__(self, examples: list[tuple[Any, ...]]) -> None:
        self.examples = examples

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, row: int) -> tuple[Any, ...]:
        return self.examples[row]


def as_tensors(data: Any, dtype: torch.dtype) -> Any:
    """A tuple (inputs, target …) with tensors in place of arrays; other data as they are.

    Args:
        data: a tuple or list, or a list of examples (input, target); splits, data sets, loaders
            and batch sources are returned unchanged.
        dtype: of real numbers.
    """
    if type(data) not in (tuple, list) or not data:
        return data
    if type(data) is list and len(data) > FEW and all(type(one) is tuple for one in data):
        return Examples(data)
    if type(data) is list and len(data) > FEW and all(isinstance(one, Mapping) for one in data):
        raise InputError(
            "expected examples as tuples (input, target), got a list of dictionaries; write each "
            "as ({'x': x, 'mask': mask}, y), its inputs by the names of the model's arguments"
        )
    inputs, *targets = data
    return (structured(inputs, dtype, "input"), *(structured(t, dtype, "target") for t in targets))


def structured(part: Any, dtype: torch.dtype, what: str) -> Any:
    """One array, a tuple of them or a dictionary of them, as tensors."""
    if isinstance(part, Mapping):
        return {name: as_tensor(value, dtype, f"{what} {name!r}") for name, value in part.items()}
    if type(part) in (tuple, list) and any(hasattr(one, "shape") for one in part):
        return tuple(as_tensor(one, dtype, what) for one in part)
    return as_tensor(part, dtype, what)


def as_tensor(values: Any, dtype: torch.dtype, what: str = "input") -> Tensor:
    """Numbers of any kind as a tensor.

    Args:
        values: a tensor, an array, a list or a frame.
        dtype: of real numbers.
        what: their name in messages.
    """
    if isinstance(values, Tensor):
        return values.to(dtype) if values.is_floating_point() else values
    array = np.asarray(values if not hasattr(values, "to_numpy") else values.to_numpy())
    if array.dtype.kind not in "biuf":
        raise InputError(
            f"expected numbers as {what}, got {kind_of(array)}; chainrule.data.arrays(x, y) "
            "numbers classes, chainrule.data.table(file, target=…) prepares tables"
        )
    if array.dtype.kind == "f" or (what.startswith("input") and hasattr(values, "columns")):
        return torch.from_numpy(np.array(array, np.float64)).to(dtype)
    if array.dtype == np.uint8:
        return torch.from_numpy(np.array(array))
    return torch.from_numpy(array.astype(np.int64))


def kind_of(array: np.ndarray) -> str:
    """What an array holds, in words."""
    first = array.flat[0] if array.size else None
    return f"{str(first)!r} and its like" if isinstance(first, str) else f"type {array.dtype}"

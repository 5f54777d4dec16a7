"""Your own arrays: NumPy, PyTorch or a DataFrame as three splits, and arrays larger than memory."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import Share, checked
from chainrule.data.files import opened
from chainrule.data.readers.encoders import VectorEncoder
from chainrule.data.readers.npy import FAULTS
from chainrule.data.readers.tables.column_kinds import LARGEST
from chainrule.data.readers.tables.table import infer_classes, rare_class_remarks
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.splits import Seed, Splits, three_way_split
from chainrule.errors import InputError


@checked
def arrays(
    x: Any,
    y: Any,
    seed: Seed = 0,
    test_fraction: Share = 0.2,
    validation_fraction: Share = 0.2,
    task: str | None = None,
) -> Splits:
    """The three splits of your own arrays.

    x: the examples, batch first, as a NumPy array, a tensor or a DataFrame; it is not scaled.
    y: the targets, one per example.
    seed: draws the validation split; the test split is always the same.
    test_fraction: size of the test split.
    validation_fraction: size of the validation split.
    task: "classification" or "regression"; None decides by the targets: words and at most 20
        different whole numbers are classes.

    >>> import numpy as np
    >>> arrays(np.random.rand(100, 3), np.arange(100) % 2)
    Splits
      train: Split(x (60, 3) float32, y (60,) int64)
      validation: Split(x (20, 3) float32, y (20,) int64)
      test: Split(x (20, 3) float32, y (20,) int64)
      2 classes: 0, 1
    """
    examples, targets = _array("x", x), _array("y", y)
    if not examples.size:
        raise InputError(f"x is empty: its shape is {examples.shape}")
    if examples.ndim < 2 or targets.shape != examples.shape[:1]:
        raise InputError(
            "expected x of shape (examples, …) and y of shape (examples,), "
            f"got {examples.shape} and {targets.shape}"
        )
    inputs = torch.from_numpy(_finite("x", examples).astype(np.float32))
    if targets.dtype.kind in "iuf":
        _finite("y", targets)
    target = {"y": [str(value) for value in targets.tolist()]}
    classes = infer_classes("y", target["y"], task)
    labels = TableEncoder((), "y", classes).encode_target(target)
    number = len(examples)
    sizes = round(test_fraction * number), round(validation_fraction * number)
    train, validation, test = three_way_split(inputs, labels, *sizes, seed)
    return Splits(
        train,
        validation,
        test,
        classes,
        _vector_encoder(x, examples),
        rare_class_remarks(classes, labels),
    )


@checked
def memory_mapped(path: str | Path) -> Tensor:
    """The array of a .npy file as a tensor that is read from disk when it is used.

    Slices such as x[:1000] stay on disk; `arrays` copies. Changes stay in memory.

    path: a .npy file of numbers.

    >>> import tempfile
    >>> import numpy as np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/x.npy", np.ones((4, 3), np.float32))
    ...     memory_mapped(f"{folder}/x.npy").shape
    torch.Size([4, 3])
    """
    with opened(path) as stream:
        start = stream.read(len(np.lib.format.MAGIC_PREFIX))
    try:
        if start != np.lib.format.MAGIC_PREFIX:
            raise InputError("another format")
        with warnings.catch_warnings(action="ignore"):  # a damaged header is odd Python
            return torch.from_numpy(np.lib.format.open_memmap(path, mode="c"))
    except (*FAULTS, ValueError, OSError) as error:
        raise InputError(f"{path}: expected a .npy file with one array of numbers") from error


def _array(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise InputError(f"{name} must be an array, got rows of unequal lengths") from error


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold numbers, got {values.dtype}")
    invalid = ~(np.abs(values.astype(np.float64)) <= LARGEST)
    if invalid.any():
        index = np.argwhere(invalid)[0].tolist()
        raise InputError(f"expected finite numbers, got {name}{index} = {values[tuple(index)]}")
    return values


def _vector_encoder(x: Any, examples: np.ndarray) -> VectorEncoder | None:
    """An encoder of CSV files with the DataFrame's column names, else x1, x2, …"""
    if examples.ndim != 2:
        return None
    names = getattr(x, "columns", [f"x{i}" for i in range(1, examples.shape[1] + 1)])
    return VectorEncoder(tuple(map(str, names)))

"""Your own table: a CSV file, a DataFrame or a dictionary of columns as three splits."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from chainrule.data.columns import Columns, as_columns, holds_numbers, is_missing, numbers, parse
from chainrule.data.splits import TEST_SEED, Split, Splits, draw
from chainrule.data.table_encoder import MANY, TableEncoder, class_names, fit_columns
from chainrule.errors import InputError
from chainrule.registry import unknown

FEW = 20  # a target of at most so many whole numbers is a class label
TASKS = ("classification", "regression")


def table(
    source: Any,
    target: str,
    seed: int = 0,
    test_fraction: float = 0.2,
    validation_fraction: float = 0.2,
    task: str | None = None,
    log: Mapping[str, float] | None = None,
    test_rows: Sequence[bool] | None = None,
) -> Splits:
    """The splits of a table; the training rows alone decide how columns are encoded.

    target: the column to predict; rows without it are left out and counted in the notes.
    task: "classification" or "regression"; None asks the target (words or few whole numbers are
        classes).
    log: columns of long tails and a scale c each, taken through log(1 + x/c).
    test_rows: which rows are the test split, where the data set says so.
    """
    columns = as_columns(source)
    if target not in columns:
        raise InputError(unknown("column", target, list(columns)))
    columns, kept, notes = _with_target(columns, target)
    classes = classes_of(target, columns[target], task)
    y = TableEncoder((), target, classes).encode_target(columns)
    rest, test = _test_split(y, test_fraction, kept, test_rows)
    keep, held = draw(y[rest], round(validation_fraction * len(y)), seed)
    train, validation = rest[keep], rest[held]
    inputs = {name: values for name, values in columns.items() if name != target}
    encodings, left_out = fit_columns(inputs, train.tolist(), log)
    if not encodings:
        raise InputError(f"expected columns besides the target {target!r} to learn from, got none")
    encoder = TableEncoder(encodings, target, classes, left_out)
    x = encoder.encode(inputs)
    parts = [Split(x[rows], y[rows]) for rows in (train, validation, test)]
    return Splits(parts[0], parts[1], parts[2], classes, encoder, notes + left_out)


def classes_of(name: str, values: list[str], task: str | None) -> tuple[str, ...]:
    """The class names of a target in label order; empty for regression."""
    if task not in (None, *TASKS):
        raise InputError(f"expected the task {' or '.join(TASKS)}, got {task!r}")
    if len(set(values)) < 2:
        raise InputError(f"expected a target with different values, got {name!r} with one only")
    if task == "regression":
        return ()
    names = sorted(set(class_names(values)))
    if task is None and holds_numbers(name, values):
        whole = (numbers(name, values) % 1 == 0).all()
        if not whole or len(names) > FEW:
            return ()
    elif task is None and len(names) > max(MANY, len(values) / 2):
        raise InputError(f"the target {name!r} looks like an identifier: {len(names)} words")
    return tuple(names if parse(names)[1] else sorted(names, key=float))


def _with_target(columns: Columns, target: str) -> tuple[Columns, list[int], tuple[str, ...]]:
    """(columns, kept rows, notes) without the rows that miss the target."""
    values = columns[target]
    kept = [row for row, value in enumerate(values) if not is_missing(value)]
    if len(kept) == len(values):
        return columns, kept, ()
    chosen = {name: [column[row] for row in kept] for name, column in columns.items()}
    left_out = len(values) - len(kept)
    return chosen, kept, (f"{left_out} of {len(values)} rows were left out: no {target!r}",)


def _test_split(
    y: Tensor, fraction: float, kept: list[int], rows: Sequence[bool] | None
) -> tuple[Tensor, Tensor]:
    """(rest, test) as row numbers: the given rows, or a fraction drawn by a constant seed."""
    if rows is None:
        return draw(y, round(fraction * len(y)), TEST_SEED)
    chosen = torch.tensor([rows[row] for row in kept])
    return (~chosen).nonzero().squeeze(1), chosen.nonzero().squeeze(1)

"""Your own table: a CSV file, a DataFrame or a dictionary of columns as three splits.

What is missing or corrupted is found, repaired or refused, and reported. Notes: A 1.3.1 (step 0).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from chainrule.data.readers.columns import (
    Columns,
    as_columns,
    count_the_rows,
    holds_numbers,
    is_missing,
    numbers,
    parse,
)
from chainrule.data.readers.table_encoder import MANY, TableEncoder, class_names, fit_columns
from chainrule.data.splits import TEST_SEED, Split, Splits, draw
from chainrule.errors import InputError
from chainrule.registry import unknown

FEW = 20  # a target of at most so many whole numbers is a class label
FEWEST = 10  # rows, below which three splits say nothing
RARE = 3  # examples that a class needs to be in all three splits
TASKS = ("classification", "regression")


@dataclass(frozen=True)
class Plan:
    """What the authors of a published table did to it.

    test_rows: which rows are the test split; None draws them.
    log: columns of long tails and a scale c each, taken through log(1 + x/c).
    """

    test_rows: Sequence[bool] | None = None
    log: Mapping[str, float] | None = None


FREE = Plan()


def table(
    source: Any,
    target: str,
    seed: int = 0,
    test_fraction: float = 0.2,
    validation_fraction: float = 0.2,
    task: str | None = None,
    ignore: tuple[str, ...] = (),
    plan: Plan = FREE,
) -> Splits:
    """The splits of a table; the training rows alone decide how columns are encoded.

    target: the column to predict; rows without it are left out and counted in the notes.
    task: "classification" or "regression"; None asks the target (words or few whole numbers are
        classes).
    ignore: columns to leave out.
    plan: the test rows and scales of a published table.
    """
    columns, numbering = _useful(as_columns(source), target, ignore)
    columns, kept, notes = _with_target(columns, target)
    classes = classes_of(target, columns[target], task)
    y = TableEncoder((), target, classes).encode_target(columns)
    rest, test = _test_split(y, test_fraction, kept, plan.test_rows)
    keep, held = draw(y[rest], round(validation_fraction * len(y)), seed)
    train, validation = rest[keep], rest[held]
    inputs = {name: values for name, values in columns.items() if name != target}
    encodings, left_out = fit_columns(inputs, train.tolist(), plan.log)
    left_out = numbering + left_out
    if not encodings:
        raise InputError(
            f"expected columns besides the target {target!r} to learn from, got none"
            + "".join(f"; {note}" for note in left_out)
        )
    encoder = TableEncoder(encodings, target, classes, left_out)
    x = encoder.encode(inputs)
    parts = [Split(x[rows], y[rows]) for rows in (train, validation, test)]
    return Splits(
        parts[0], parts[1], parts[2], classes, encoder, notes + rare(classes, y) + left_out
    )


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


def rare(classes: tuple[str, ...], y: Tensor) -> tuple[str, ...]:
    """One note if there are classes with too few examples for all three splits."""
    counts = torch.bincount(y, minlength=len(classes)).tolist() if classes else []
    few = [f"{name!r} ({n})" for name, n in zip(classes, counts, strict=True) if n < RARE]
    return (f"classes with fewer than {RARE} examples: {', '.join(few)}",) if few else ()


def _useful(
    columns: Columns, target: str, ignore: tuple[str, ...]
) -> tuple[Columns, tuple[str, ...]]:
    """(columns, notes) without the ignored ones and those that number the rows."""
    for name in (target, *ignore):
        if name not in columns:
            raise InputError(unknown("column", name, list(columns)))
    if target in ignore:
        raise InputError(f"the target {target!r} cannot be ignored; ignore other columns")
    inputs = {name: v for name, v in columns.items() if name not in (target, *ignore)}
    numbering = [name for name, values in inputs.items() if count_the_rows(values)]
    kept = {name: v for name, v in columns.items() if name not in (*ignore, *numbering)}
    return kept, tuple(f"column {name!r} was left out: it numbers the rows" for name in numbering)


def _with_target(columns: Columns, target: str) -> tuple[Columns, list[int], tuple[str, ...]]:
    """(columns, kept rows, notes) without the rows that miss the target."""
    values = columns[target]
    kept = [row for row, value in enumerate(values) if not is_missing(value)]
    if len(kept) < FEWEST:
        raise InputError(
            f"expected at least {FEWEST} rows with a {target!r}, got {len(kept)}; add more rows"
        )
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

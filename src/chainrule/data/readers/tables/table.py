"""Your own table: a file, a query, a DataFrame or a dictionary of columns as three splits.

Missing and corrupted values are found, repaired or refused, and reported. Notes: A 1.3.1 (step 0).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import Share, checked
from chainrule.data.readers.tables.column_checks import (
    leak_remarks,
    missing_remarks,
    without_identifiers,
)
from chainrule.data.readers.tables.column_fitting import (
    MAX_CATEGORIES,
    Fitted,
    Fitting,
    fit_columns,
)
from chainrule.data.readers.tables.column_kinds import is_numeric, numeric_column
from chainrule.data.readers.tables.columns import Columns, read_table
from chainrule.data.readers.tables.numbers import has_words, is_missing
from chainrule.data.readers.tables.reading import Reading, decide, one_spelling
from chainrule.data.readers.tables.table_encoder import (
    TableEncoder,
    booleans,
    class_names,
    target_units,
)
from chainrule.data.splits import TEST_SEED, Seed, Split, Splits, stratified_indices
from chainrule.errors import InputError
from chainrule.registry import unknown

MAX_INTEGER_CLASSES = 20  # a target with at most so many different whole numbers is a class
MIN_ROWS = 10  # for three splits
RARE = 3  # a class with fewer examples is not in all three splits
TASKS = ("classification", "regression")


@dataclass(frozen=True)
class TableOptions:
    """How a table is read and prepared.

    test_rows: True for the rows of the test split; None draws them.
    log_scales: long-tailed columns and a scale c each, transformed by log(1 + x/c).
    decimal: the decimal mark, "." or ","; empty decides for each column by what it holds.
    missing: marks for a missing value, besides empty cells, NA, nan, null, none and ?.
    query: SQL, where the source is a database.
    fold_case: read words that differ in upper and lower case only, such as yes and Yes, as one.
    categories: encoding of words: "one-hot", "target", "hashed" or "embedding", which needs a
        network for it; "auto" is one-hot up to 50 words, then by the target.
    date_order: "day-first" or "month-first", where dates such as 1/3/2024 leave it open.
    keep: columns that are read although they look like ids.
    long_tails: transform columns of numbers from 0 on with a skewness above 2 by log(1 + x/c).
    """

    test_rows: Sequence[bool] | None = None
    log_scales: Mapping[str, float] | None = None
    decimal: str = ""
    missing: tuple[str, ...] = ()
    query: str = ""
    fold_case: bool = True
    categories: str = "auto"
    date_order: str = "auto"
    keep: tuple[str, ...] = ()
    long_tails: bool = False


DEFAULT = TableOptions()


@checked
def table(
    source: Any,
    target: str,
    seed: Seed = 0,
    test_fraction: Share = 0.2,
    validation_fraction: Share = 0.2,
    task: str | None = None,
    ignore: tuple[str, ...] = (),
    options: TableOptions = DEFAULT,
) -> Splits:
    """The three splits of a table, encoded by what the training rows contain.

    Numbers are standardized, words one-hot encoded, missing values filled and marked. Decimal
    commas, thousands marks, currency and percent signs are understood; every decision is a remark.
    The mean of a target that float32 cannot hold is taken off; `encoder.restored` adds it again.

    source: the path of a CSV, Parquet, Feather, .xlsx or SQLite file, gzipped or not; the address
        of a database; a pandas or polars DataFrame; or a dictionary of columns.
    target: the column to predict; rows without it are dropped and counted in the remarks.
    seed: draws the validation split; the test split is always the same.
    test_fraction: size of the test split.
    validation_fraction: size of the validation split.
    task: "classification" or "regression"; None decides by the target: words and at most 20
        different whole numbers are classes.
    ignore: columns to drop.
    options: marks of numbers and of missing values, a query, test rows and transformations.

    >>> rooms, price = [k % 9 for k in range(50)], [f"${1000 * (k % 9)}" for k in range(50)]
    >>> table({"rooms": rooms, "price": price}, target="price", task="regression").train.x.shape
    torch.Size([30, 1])
    """
    columns, reading, found = _read(source, target, ignore, options)
    columns, dropped = without_identifiers(columns, target, options.keep)
    columns, kept, unlabeled = _drop_unlabeled(columns, target)
    columns, folded = _fold(columns) if options.fold_case else (columns, ())
    classes = infer_classes(target, columns[target], task)
    plain = TableEncoder((), target, classes)
    y = plain.encode_target(columns)
    rest, test = _test_split(y, test_fraction, kept, options.test_rows)
    keep, held = stratified_indices(y[rest], round(validation_fraction * len(y)), seed)
    rows = rest[keep], rest[held], test
    encoder, shifted = _with_units(plain, columns, rows[0])
    y = encoder.encode_target(columns)
    inputs = {name: values for name, values in columns.items() if name != target}
    fitted = _fitted(inputs, rows[0], y, encoder, options)
    dropped += fitted.remarks
    if not fitted.columns:
        raise InputError(
            f"expected columns besides the target {target!r} to learn from, got none"
            + "".join(f"; {note}" for note in dropped)
        )
    encoder = replace(encoder, columns=fitted.columns, remarks=dropped, reading=reading)
    x = _encoded(encoder, inputs, rows[0], fitted)
    parts = [Split(x[part], y[part]) for part in rows]
    leaks = leak_remarks(encoder.blocks(parts[0].x), parts[0].y.numpy(), len(classes))
    remarks = found + folded + unlabeled + shifted + rare_class_remarks(classes, y) + dropped
    return Splits(parts[0], parts[1], parts[2], classes, encoder, remarks + leaks)


def _fitted(
    inputs: Columns, train: Tensor, y: Tensor, encoder: TableEncoder, options: TableOptions
) -> Fitted:
    """The encodings of the input columns, by the training rows."""
    how = Fitting(
        options.log_scales or {},
        options.long_tails,
        options.categories,
        options.date_order,
        options.keep,
        encoding_targets(y[train], encoder.target, encoder.classes),
    )
    return fit_columns(inputs, train.tolist(), how)


def encoding_targets(
    y: Tensor, target: str, classes: tuple[str, ...]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """(rows, targets) for the encoding of words by the target: y, or 0/1 for each class but one."""
    if not classes:
        return y.double().numpy()[:, None], (target,)
    every = torch.nn.functional.one_hot(y, len(classes)).double().numpy()
    first = 1 if len(classes) == 2 else 0
    return every[:, first:], tuple(f"{target}={name}" for name in classes[first:])


def _encoded(encoder: TableEncoder, inputs: Columns, train: Tensor, fitted: Fitted) -> Tensor:
    """All rows; the training rows with the encoding that leaves out their own targets."""
    x = encoder.encode(inputs)
    blocks = encoder.blocks(x)
    for name, own in fitted.own.items():
        blocks[name][train.numpy()] = own  # a view of x
    return x


def infer_classes(name: str, values: list[str], task: str | None) -> tuple[str, ...]:
    """The class names of a target in label order; empty for regression."""
    if task not in (None, *TASKS):
        raise InputError(f"task must be {' or '.join(TASKS)}, got {task!r}")
    if len(set(values)) < 2:
        raise InputError(
            f"the target {name!r} has the same value in all rows; expected different ones"
        )
    if task == "regression":
        return ()
    names = sorted(set(class_names(values)))
    if task is None and is_numeric(name, values):
        whole = (numeric_column(name, values) % 1 == 0).all()
        if not whole or len(names) > MAX_INTEGER_CLASSES:
            return ()
    elif task is None and len(names) > max(MAX_CATEGORIES, len(values) / 2):
        raise InputError(f"the target {name!r} looks like an identifier: it has {len(names)} words")
    return tuple(names if has_words(names) else sorted(names, key=float))


def rare_class_remarks(classes: tuple[str, ...], y: Tensor) -> tuple[str, ...]:
    """A note on classes with too few examples for all three splits."""
    counts = torch.bincount(y, minlength=len(classes)).tolist() if classes else []
    few = [f"{name!r} ({n})" for name, n in zip(classes, counts, strict=True) if n < RARE]
    return (f"classes with fewer than {RARE} examples: {', '.join(few)}",) if few else ()


def _read(
    source: Any, target: str, ignore: tuple[str, ...], options: TableOptions
) -> tuple[Columns, Reading, tuple[str, ...]]:
    """(columns, reading, remarks) without ignored columns; numbers are plain."""
    columns, remarks = read_table(source, options.query)
    for name in (target, *ignore, *options.keep):
        if name not in columns:
            raise InputError(unknown("column", name, list(columns)))
    if clash := set(ignore) & set(options.keep):
        raise InputError(f"expected {min(clash)!r} in `ignore` or in `keep`, got it in both")
    if target in ignore:
        raise InputError(f"the target {target!r} cannot be in ignore")
    columns = {name: v for name, v in columns.items() if name not in ignore}
    formats, decisions = decide(columns, options.decimal, options.missing)
    reading = Reading(formats, options.missing, options.query, options.fold_case)
    plain = reading.plain(columns)
    return plain, reading, remarks + decisions + missing_remarks(plain)


def _fold(columns: Columns) -> tuple[Columns, tuple[str, ...]]:
    """(columns, remarks) with one spelling for words that differ in case only."""
    folded = {name: one_spelling(name, values) for name, values in columns.items()}
    remarks = tuple(remark for _, found in folded.values() for remark in found)
    return {name: values for name, (values, _) in folded.items()}, remarks


def _with_units(
    encoder: TableEncoder, columns: Columns, train: Tensor
) -> tuple[TableEncoder, tuple[str, ...]]:
    """(encoder, remarks) with the shift and scale of a target that float32 cannot hold."""
    if encoder.classes:
        return encoder, ()
    y = numeric_column(encoder.target, booleans(columns[encoder.target]))
    shift, scale = target_units(y[train.numpy()])
    if not shift and scale == 1:
        return encoder, ()
    scaled = "" if scale == 1 else f" and it is divided by its deviation {scale:.6g}"
    remark = (
        f"the mean {shift:.15g} of {encoder.target!r} is taken off{scaled} for training, because "
        "float32 has too few digits; predictions have it again"
    )
    return replace(encoder, shift=shift, scale=scale), (remark,)


def _drop_unlabeled(columns: Columns, target: str) -> tuple[Columns, list[int], tuple[str, ...]]:
    """(columns, kept rows, remarks) without the rows that have no target."""
    values = columns[target]
    kept = [row for row, value in enumerate(values) if not is_missing(value)]
    if len(kept) < MIN_ROWS:
        raise InputError(
            f"expected at least {MIN_ROWS} rows with a {target!r}, got {len(kept)}; add more rows"
        )
    if len(kept) == len(values):
        return columns, kept, ()
    chosen = {name: [column[row] for row in kept] for name, column in columns.items()}
    dropped = len(values) - len(kept)
    return chosen, kept, (f"{dropped} of {len(values)} rows were dropped: no {target!r}",)


def _test_split(
    y: Tensor, fraction: float, kept: list[int], rows: Sequence[bool] | None
) -> tuple[Tensor, Tensor]:
    """(rest, test) as row numbers: the given rows, or a fraction drawn by a constant seed."""
    if rows is None:
        return stratified_indices(y, round(fraction * len(y)), TEST_SEED)
    chosen = torch.tensor([rows[row] for row in kept])
    return (~chosen).nonzero().squeeze(1), chosen.nonzero().squeeze(1)

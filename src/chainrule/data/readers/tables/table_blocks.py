"""Your own table, larger than memory: Parquet files, read row group by row group.

One pass over the file finds mean and spread of the numbers and the words of the others, and takes
out rows for validation, for the test, and as a sample of the training rows. In training every row
group is read and encoded when its turn comes; its held-out rows are dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from chainrule.arguments import Share, checked
from chainrule.data.readers.tables.column_statistics import (
    Choices,
)
from chainrule.data.readers.tables.encoded_rows import encoded, encoded_target
from chainrule.data.readers.tables.parquet import ParquetFiles, require, words
from chainrule.data.readers.tables.table import (
    MIN_ROWS,
    TableOptions,
    encoding_targets,
    rare_class_remarks,
)
from chainrule.data.readers.tables.table_encoder import TableEncoder
from chainrule.data.readers.tables.table_survey import Survey
from chainrule.data.readers.tables.word_columns import FOLDS, HashedColumn, TargetColumn, places
from chainrule.data.splits import BlockSplits, Seed
from chainrule.errors import InputError

MAX_BLOCK = 2**29  # bytes of an encoded row group


@dataclass(frozen=True, eq=False)
class TableBlocks:
    """The training rows of Parquet files, encoded when they are read.

    files: of the table.
    encoder: of its rows.
    left_out: of every row group, the rows that are not for training, in ascending order.
    folds: encoders of row group k, k + F, …, whose mean targets do not know these groups.
    """

    files: ParquetFiles
    encoder: TableEncoder
    left_out: tuple[np.ndarray, ...]
    folds: tuple[TableEncoder, ...] = ()

    @cached_property
    def sizes(self) -> list[int]:
        """Number of training rows of each row group."""
        pairs = zip(self.files.groups, self.left_out, strict=True)
        return [group.rows - len(out) for group, out in pairs]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row in memory."""
        return 4 * len(self.encoder.features) + (8 if self.encoder.classes else 4)

    def read(self, block: int, rows: np.ndarray | None = None) -> tuple[Tensor, Tensor]:
        """Features and targets of the training rows of a row group, or some of them."""
        names = [*(column.name for column in self.encoder.columns), self.encoder.target]
        table = self.files.read(block, names)
        keep = np.delete(np.arange(table.num_rows), self.left_out[block])
        encoder = self.folds[block % len(self.folds)] if self.folds else self.encoder
        return encoded(encoder, table, keep if rows is None else keep[rows])


@checked
def table_blocks(
    source: str | Path,
    target: str,
    seed: Seed = 0,
    test_fraction: Share = 0.2,
    validation_fraction: Share = 0.2,
    task: str | None = None,
    ignore: tuple[str, ...] = (),
    options: TableOptions | None = None,
) -> BlockSplits:
    """The splits of a table that is larger than memory; the training rows stay on the disk.

    The validation split, the test split and the sample of training rows that is `train` have at
    most 50,000 rows each.

    source: a Parquet file, or a folder of Parquet files with the same columns.
    target: the column to predict; rows without it are dropped and counted in the remarks.
    seed: draws the validation split; the test split is always the same.
    test_fraction: size of the test split, up to its limit.
    validation_fraction: size of the validation split, up to its limit.
    task: "classification" or "regression"; None decides by the target, as for `table`.
    ignore: columns to drop.
    options: `keep`, `date_order` and `long_tails` of them are used, as for `table`.

    >>> import tempfile
    >>> import pyarrow
    >>> from pyarrow.parquet import write_table
    >>> columns = {"rooms": [k % 9 for k in range(99)], "price": [k % 9 / 2 for k in range(99)]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pyarrow.table(columns), f"{folder}/homes.parquet")
    ...     data = table_blocks(f"{folder}/homes.parquet", target="price", task="regression")
    ...     len(data.validation.x), len(data.test.x)
    (20, 20)
    """
    files = ParquetFiles(source)
    options = options or TableOptions()
    require(files, (target, *ignore, *options.keep))
    if target in ignore:
        raise InputError(f"the target {target!r} cannot be in ignore")
    how = Choices(options.keep, options.date_order, options.long_tails)
    found = Survey(files, target, ignore, seed, (test_fraction, validation_fraction), how)
    for block in range(len(files.groups)):
        found.add(block)
    if min(found.counts.values()) == 0 or sum(found.counts.values()) < MIN_ROWS:
        total = sum(found.counts.values())
        raise InputError(
            f"expected at least {MIN_ROWS} rows with a {target!r}, got {total}; add more rows"
        )
    encoder = found.encoder(task)
    encoder, folds = with_means(encoder, files, found.left_out)
    blocks = TableBlocks(files, encoder, tuple(found.left_out), folds)
    check_blocks(blocks)
    splits = found.splits(encoder)
    held = ", ".join(f"{name} {len(splits[name].y):,}" for name in ("validation", "test"))
    remarks = (
        f"{sum(blocks.sizes):,} training rows stay on the disk, in {len(blocks.sizes):,} row "
        f"groups; {held} rows; training metrics are of {len(splits['train'].y):,} rows",
        *found.remarks,
        *encoder.remarks,
        *rare_class_remarks(encoder.classes, splits["train"].y),
    )
    return BlockSplits(
        splits["train"],
        splits["validation"],
        splits["test"],
        encoder.classes,
        encoder=encoder,
        remarks=remarks,
        blocks=blocks,
    )


def check_blocks(blocks: TableBlocks) -> None:
    """Refuse row groups that would not fit into memory, some at once."""
    largest = max(blocks.sizes) * blocks.row_bytes
    if largest > MAX_BLOCK:
        raise InputError(
            f"{blocks.files.paths[0]} has row groups of up to {max(blocks.sizes):,} rows, which "
            f"take {largest / 2**20:,.0f} MiB each; write it with at most "
            f"{MAX_BLOCK // blocks.row_bytes:,} rows in a group (pyarrow: row_group_size)"
        )


def with_means(
    encoder: TableEncoder, files: ParquetFiles, left_out: Sequence[np.ndarray]
) -> tuple[TableEncoder, tuple[TableEncoder, ...]]:
    """(encoder, encoders of the folds) with the mean target of every word of columns with many.

    A second pass reads these columns and the target. With its own target in the mean, a rare word
    would give its answer away; so row group k is encoded by means without the groups of its fold.
    """
    chosen = {c.name: c for c in encoder.columns if isinstance(c, TargetColumn)}
    if not chosen:
        return encoder, ()
    number = min(FOLDS, len(files.groups))
    if number == 1:
        hashed = {name: HashedColumn.fit(name, list(c.words)) for name, c in chosen.items()}
        return with_columns(encoder, hashed), ()
    names: tuple[str, ...] = ()
    sums: dict[str, np.ndarray] = {}
    for block in range(len(files.groups)):
        cells = files.read(block, [*chosen, encoder.target])
        rows = np.delete(np.arange(cells.num_rows), left_out[block])
        labels = encoded_target(encoder, cells.column(encoder.target), rows)
        y, names = encoding_targets(labels, encoder.target, encoder.classes)
        for name, column in chosen.items():
            known, codes = words(cells.column(name))
            found = [len(column.words) if k is None else k for k in places(column.words, known)]
            word = np.array([*found, len(column.words)])[codes[rows]]
            shape = (number, len(column.words) + 1, y.shape[1] + 1)
            total = sums.setdefault(name, np.zeros(shape))[block % number]
            np.add.at(total, word, np.column_stack([y, np.ones(len(y))]))
    folds = [
        {
            name: column.with_sums(np.delete(sums[name], fold, 0).sum(0), names, sums[name].sum(0))
            for name, column in chosen.items()
        }
        for fold in range(number)
    ]
    every = {n: c.with_sums(sums[n].sum(0), names, sums[n].sum(0)) for n, c in chosen.items()}
    notes = tuple(column.described() for column in every.values())
    encoder = replace(encoder, remarks=encoder.remarks + notes)
    return with_columns(encoder, every), tuple(with_columns(encoder, own) for own in folds)


def with_columns(encoder: TableEncoder, changed: Mapping[str, Any]) -> TableEncoder:
    """The encoder with some columns replaced, or left out where there is None."""
    columns = [changed.get(column.name, column) for column in encoder.columns]
    return replace(encoder, columns=tuple(column for column in columns if column is not None))

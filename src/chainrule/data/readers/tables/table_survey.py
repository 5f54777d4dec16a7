"""One pass over a table larger than memory: what its columns hold, and the held-out rows."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from chainrule.data.readers.tables.column_encodings import Column
from chainrule.data.readers.tables.column_statistics import (
    Choices,
    ColumnStatistics,
    DateStatistics,
    NumberStatistics,
    TargetStatistics,
    WordStatistics,
)
from chainrule.data.readers.tables.encoded_rows import encoded
from chainrule.data.readers.tables.parquet import ParquetFiles, kind_of, numbers
from chainrule.data.readers.tables.table_encoder import TableEncoder, target_units
from chainrule.data.splits import TEST_SEED, Split
from chainrule.errors import InputError

MOST_HELD = 50_000  # rows of the validation split, the test split and the sample
PARTS = ("test", "validation", "train")
STATISTICS: dict[str, type[ColumnStatistics]] = {
    "numbers": NumberStatistics,
    "words": WordStatistics,
    "dates": DateStatistics,
}


class Survey:
    """What one pass over a table finds, row group by row group.

    files: of the table.
    target: the column to predict.
    ignore: columns to drop.
    seed: draws the validation split.
    fractions: sizes of test and validation split.
    how: choices of the user.
    """

    def __init__(
        self,
        files: ParquetFiles,
        target: str,
        ignore: Sequence[str],
        seed: int,
        fractions: tuple[float, float],
        how: Choices,
    ):
        self.files, self.target, self.seed = files, target, seed
        kinds = {name: kind_of(kind) for name, kind in files.types.items() if name not in ignore}
        self.dropped = [
            f"column {name!r} was dropped: it holds {files.types[name]}, no numbers, words or dates"
            for name, kind in kinds.items()
            if kind == "other" and name != target
        ]
        if kinds[target] in ("other", "dates"):
            raise InputError(
                f"the target {target!r} holds {files.types[target]}; expected numbers or words"
            )
        self.columns: dict[str, ColumnStatistics] = {
            name: STATISTICS[kind](name, how)
            for name, kind in kinds.items()
            if kind != "other" and name != target
        }
        self.classes = TargetStatistics(target, kinds[target] == "numbers")
        test, validation = (min(round(f * files.rows), MOST_HELD) for f in fractions)
        rest = max(1, files.rows - test - validation)
        self.wanted = dict(zip(PARTS, (test, validation, min(rest, MOST_HELD)), strict=True))
        self.counts = dict.fromkeys(PARTS, 0)
        self.seen = self.unlabeled = 0
        self.left_out: list[np.ndarray] = []
        self.taken: list[Any] = []
        self.parts: list[np.ndarray] = []

    def add(self, block: int) -> None:
        """Read a row group: draw its held-out rows, count the others."""
        table = self.files.read(block, [*self.columns, self.target])
        y = self.classes.read(table.column(self.target))
        labeled = np.flatnonzero(y >= 0) if y.dtype == np.int64 else np.flatnonzero(~np.isnan(y))
        self.unlabeled += table.num_rows - len(labeled)
        self.seen += table.num_rows
        drawn = self.drawn(block, labeled)
        training = np.setdiff1d(
            labeled, np.concatenate([drawn["test"], drawn["validation"]]), assume_unique=True
        )
        self.left_out.append(np.setdiff1d(np.arange(table.num_rows), training, assume_unique=True))
        self.classes.add(y[labeled])
        for name, statistics in self.columns.items():
            statistics.add(table.column(name), training)
        rows = np.concatenate([drawn[part] for part in PARTS])
        self.taken.append(table.take(rows))
        self.parts.append(np.repeat(np.arange(len(PARTS)), [len(drawn[part]) for part in PARTS]))

    def drawn(self, block: int, labeled: np.ndarray) -> dict[str, np.ndarray]:
        """Rows of each part; all row groups give in proportion to their size."""
        found, rest = {}, labeled
        for number, part in enumerate(PARTS):
            share = self.wanted[part] * self.seen / max(1, self.files.rows)
            size = min(max(0, round(share) - self.counts[part]), len(rest))
            seed = TEST_SEED if part == "test" else self.seed
            draw = np.random.default_rng([seed, block, number])
            found[part] = np.sort(draw.choice(rest, size, replace=False))
            rest = np.setdiff1d(rest, found[part], assume_unique=True)
            self.counts[part] += size
        return found

    @property
    def remarks(self) -> tuple[str, ...]:
        if not self.unlabeled:
            return ()
        return (f"{self.unlabeled:,} of {self.seen:,} rows were dropped: no {self.target!r}",)

    @cached_property
    def held(self) -> Any:
        """All rows that were taken out, and the sample, as one table."""
        import pyarrow

        return pyarrow.concat_tables(self.taken).combine_chunks()

    def encoder(self, task: str | None) -> TableEncoder:
        """The encoder of the training rows."""
        columns: list[Column] = []
        dropped = list(self.dropped)
        sample = np.flatnonzero(np.concatenate(self.parts) == PARTS.index("train"))
        for name, statistics in self.columns.items():
            column, said = statistics.fitted(self.held.column(name).take(sample))
            if column is None:
                dropped.append(f"column {name!r} was dropped: {said}")
            else:
                columns.append(column)
                dropped += [said] if said else []
        if not columns:
            raise InputError(
                f"expected columns besides the target {self.target!r} to learn from, got none"
                + "".join(f"; {note}" for note in dropped)
            )
        classes = self.classes.names(task)
        shift, scale = 0.0, 1.0
        if not classes:
            shift, scale = target_units(
                numbers(self.target, self.held.column(self.target).take(sample))
            )
        return TableEncoder(
            tuple(columns), self.target, classes, tuple(dropped), shift=shift, scale=scale
        )

    def splits(self, encoder: TableEncoder) -> dict[str, Split]:
        """The parts that are in memory."""
        part = np.concatenate(self.parts)
        return {
            name: Split(*encoded(encoder, self.held, np.flatnonzero(part == number)))
            for number, name in enumerate(PARTS)
        }

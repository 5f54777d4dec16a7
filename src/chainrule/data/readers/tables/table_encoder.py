"""Tables as tensors: numbers standardized, words one-hot, both fitted on the training rows."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.tables.column_encodings import (
    CategoricalColumn,
    Column,
    column_from_json,
    column_to_json,
)
from chainrule.data.readers.tables.column_fitting import check_one_hot
from chainrule.data.readers.tables.column_kinds import LARGEST, numeric_column
from chainrule.data.readers.tables.columns import Columns, Faults, listed, require_columns
from chainrule.data.readers.tables.numbers import is_missing, parse_numbers
from chainrule.data.readers.tables.reading import PLAIN, Reading
from chainrule.data.readers.tables.word_columns import places
from chainrule.data.state import (
    LIST,
    NUMBER,
    OBJECT,
    POSITIVE,
    TEXT,
    TEXTS,
    fields,
    optional,
)
from chainrule.errors import InputError

MAX_NEW = 3  # unseen words in a note
MAX_ROUNDING = 1e-4  # of a target in float32, as a fraction of its standard deviation
MAX_DEVIATION = 1e6  # of a target; its square must fit into float32 many times

BOOLEANS = {"False": "0", "True": "1"}


@dataclass(frozen=True)
class TableEncoder:
    """Rows of a table as tensors.

    columns: the encoding of each input column.
    target: the column to predict.
    classes: the class names in label order; empty for regression.
    remarks: the columns that were dropped, and why.
    reading: how cells are read.
    shift, scale: a number y to be predicted is held as (y - shift) / scale.
    """

    columns: tuple[Column, ...]
    target: str
    classes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    reading: Reading = PLAIN
    shift: float = 0.0
    scale: float = 1.0

    @property
    def features(self) -> tuple[str, ...]:
        """The name of each column of the tensor."""
        return tuple(feature for column in self.columns for feature in column.features)

    def encode(self, source: Any) -> Tensor:
        """(rows, features) of a file, a DataFrame or a dictionary; ignores other columns."""
        return self._encode(self.reading.cells(source))

    def _encode(self, table: Columns) -> Tensor:
        """Columns as they are written; the faults of all of them are told at once."""
        require_columns(table, [column.name for column in self.columns])
        rows = len(next(iter(table.values())))
        check_one_hot(self.columns, rows)
        x = np.empty((rows, len(self.features)), np.float32)
        start, faults = 0, Faults()
        for column in self.columns:
            with faults:
                plain = self.reading.plain_column(column.name, table[column.name])
                part = column.encode(plain)
                if not (np.abs(part) <= LARGEST).all():
                    raise InputError(
                        f"column {column.name!r}: expected numbers like those of the training "
                        f"data, got some more than {LARGEST:g} standard deviations away"
                    )
                x[:, start : start + part.shape[1]] = part
            start += len(column.features)
        faults.refuse()
        return torch.from_numpy(x)

    def encode_file(self, path: str | Path) -> Tensor:
        table = self.reading.cells(path)
        with errors_naming(path):
            return self._encode(table)

    def blocks(self, x: Tensor) -> dict[str, np.ndarray]:
        """The features of each column: views of x."""
        found, start, rows = {}, 0, x.numpy()
        for column in self.columns:
            width = len(column.features)
            found[column.name] = rows[:, start : start + width]
            start += width
        return found

    def unseen(self, source: Any) -> tuple[str, ...]:
        """A note for every column with words that the training rows did not have."""
        words = {column.name: column.words for column in self.columns if hasattr(column, "words")}
        table, notes = self.reading.cells(source) if words else {}, []
        for name, known in words.items():
            values = self.reading.plain_column(name, table.get(name, []))
            pairs = zip(values, places(known, values), strict=True)
            new = [value for value, place in pairs if place is None and not is_missing(value)]
            if new:
                notes.append(
                    f"column {name!r}: {listed(new, MAX_NEW)} in {len(new):,} of "
                    f"{len(values):,} rows was not in the training rows and counts as missing"
                )
        return tuple(notes)

    def encode_target(self, rows: Any) -> Tensor:
        """(rows,) class labels as int64, or (y - shift) / scale as float32 for regression."""
        table = self.reading.read(rows)
        require_columns(table, [self.target])
        values = table[self.target]
        if any(map(is_missing, values)):
            raise InputError(
                f"column {self.target!r}: a target is missing; expected one in every row"
            )
        if not self.classes:
            # float64: float32 may be too coarse for it
            y = numeric_column(self.target, booleans(values))
            return torch.from_numpy((y - self.shift) / self.scale).float()
        names = class_names(values)
        labels = CategoricalColumn(self.target, self.classes).places(names)
        if None in labels:
            raise InputError(
                f"column {self.target!r}: expected {', '.join(self.classes)}, "
                f"got {names[labels.index(None)]!r}"
            )
        return torch.tensor(labels)

    def restored(self, y: Tensor) -> Tensor:
        """shift + scale · y in float64: numbers as the table has them."""
        return self.shift + self.scale * y.double() if not self.classes else y

    def to_json(self) -> dict[str, Any]:
        columns = [column_to_json(column) for column in self.columns]
        return {"kind": "table", **asdict(self), "columns": columns}

    @classmethod
    def from_json(cls, state: Any) -> "TableEncoder":
        found = fields(
            state,
            "the encoder of a table",
            columns=LIST,
            target=TEXT,
            classes=TEXTS,
            remarks=TEXTS,
            reading=optional(OBJECT),
            shift=optional(NUMBER),
            scale=optional(POSITIVE),
        )
        columns = tuple(map(column_from_json, found["columns"]))
        found["classes"], found["remarks"] = tuple(found["classes"]), tuple(found["remarks"])
        reading = Reading.from_json(found.get("reading", {}))
        return cls(**found | {"columns": columns, "reading": reading})


def booleans(values: list[str]) -> list[str]:
    """False and True as 0 and 1."""
    return [BOOLEANS.get(value, value) for value in values]


def class_names(values: list[str]) -> list[str]:
    """The labels, with whole numbers in their shortest form: 1 and 1.0 are one class."""
    found = parse_numbers(values)[0].tolist()
    return [f"{x:.0f}" if x % 1 == 0 else label for x, label in zip(found, values, strict=True)]


def target_units(y: np.ndarray) -> tuple[float, float]:
    """(shift, scale) that a float32 target needs: (0, 1) for most, else mean and deviation of y.

    float32 has 24 binary digits, and squares of deviations far from one leave its range.
    """
    mean, std = float(y.mean()), float(y.std())
    coarse = 2**-24 * float(np.abs(y).max()) > MAX_ROUNDING * std
    extreme = not 1 / MAX_DEVIATION < std < MAX_DEVIATION
    return (mean if coarse or extreme else 0.0), (std or 1.0 if extreme else 1.0)

"""Tables as tensors: numbers standardized, words one-hot, both fitted on the training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.column_encodings import CategoricalColumn, Column, NumericColumn
from chainrule.data.readers.columns import (
    LARGEST,
    Columns,
    Faults,
    are_dates,
    is_numeric,
    listed,
    numeric_column,
    require_columns,
)
from chainrule.data.readers.numbers import is_missing, parse_numbers
from chainrule.data.readers.reading import PLAIN, Reading
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

MAX_CATEGORIES = 20  # more words than this, nearly all different, are dropped
MAX_WORDS = 1_000  # of one column that is one-hot encoded
MAX_NEW = 3  # unseen words in a note
MAX_ONE_HOT = 50_000_000  # ones and zeros of all one-hot encoded columns together
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
        return self._encode(self.reading.read(source))

    def _encode(self, table: Columns) -> Tensor:
        require_columns(table, [column.name for column in self.columns])
        rows = len(next(iter(table.values())))
        check_one_hot(self.columns, rows)
        x = np.empty((rows, len(self.features)), np.float32)
        start = 0
        for column in self.columns:
            part = column.encode(table[column.name])
            if not (np.abs(part) <= LARGEST).all():
                raise InputError(
                    f"column {column.name!r}: expected numbers like those of the training data, "
                    f"got some more than {LARGEST:g} standard deviations away"
                )
            x[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return torch.from_numpy(x)

    def encode_file(self, path: str | Path) -> Tensor:
        table = self.reading.read(path)
        with errors_naming(path):
            return self._encode(table)

    def unseen(self, source: Any) -> tuple[str, ...]:
        """A note for every column with words that the training rows did not have."""
        table, notes = self.reading.read(source), []
        for column in self.columns:
            if isinstance(column, CategoricalColumn) and column.name in table:
                values = table[column.name]
                pairs = zip(values, column.places(values), strict=True)
                new = [value for value, place in pairs if place is None and not is_missing(value)]
                if new:
                    notes.append(
                        f"column {column.name!r}: {listed(new, MAX_NEW)} in {len(new):,} of "
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
        return {"kind": "table", **asdict(self)}

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
        columns = tuple(
            (CategoricalColumn if "words" in column else NumericColumn).from_json(column)
            if isinstance(column, dict)
            else NumericColumn.from_json(column)
            for column in found["columns"]
        )
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


def fit_columns(
    table: Columns, rows: list[int], log: Mapping[str, float] | None = None
) -> tuple[tuple[Column, ...], tuple[str, ...]]:
    """(columns, remarks): the encoding of each column, and which columns were dropped.

    rows: the training rows.
    log: scales of the columns to be log-transformed.
    """
    columns: list[Column] = []
    remarks = []
    faults = Faults()
    for name, values in table.items():
        with faults:
            column, reason = fit_column(name, values, rows, (log or {}).get(name, 0.0))
            if column is None:
                remarks.append(f"column {name!r} was dropped: {reason}")
            else:
                columns.append(column)
    faults.refuse()
    check_one_hot(columns, len(next(iter(table.values()), [])))
    return tuple(columns), tuple(remarks)


def fit_column(
    name: str, values: list[str], rows: list[int], log: float
) -> tuple[Column | None, str]:
    """(column, ""), or None and the reason why a column is dropped."""
    training = [values[row] for row in rows]
    column: Column | None
    if is_numeric(name, values):
        numeric_column(name, values)  # refuse here, where row numbers are those of the table
        column = NumericColumn.fit(name, training, log)
    elif reason := reason_to_drop(values):
        return None, reason
    else:
        column = CategoricalColumn.fit(name, training)
    return column, "it is the same in all training rows"


def check_one_hot(columns: Sequence[Column], rows: int) -> None:
    """Refuse a table whose words would need too much memory."""
    words = {c.name: len(c.words) for c in columns if isinstance(c, CategoricalColumn)}
    if rows * sum(words.values()) > MAX_ONE_HOT:
        name = max(words, key=lambda name: words[name])
        raise InputError(
            f"one-hot encoding {sum(words.values()):,} words in {rows:,} rows takes more than "
            f"{MAX_ONE_HOT:,} numbers; use fewer rows, or `ignore` columns with many words such as "
            f"{name!r}"
        )


def reason_to_drop(values: list[str]) -> str:
    """Why a column of words cannot be one-hot encoded; empty if it can."""
    words = [value for value in values if not is_missing(value)]
    different = len(set(words))
    if different <= MAX_CATEGORIES:
        return ""
    if are_dates(words):
        return "its values look like dates; add numbers such as the year or the days since"
    if different > MAX_WORDS:
        return f"it has {different:,} different words, more than {MAX_WORDS:,}"
    return "its words are nearly all different" if different > len(words) / 2 else ""

"""Tables as tensors: numbers standardized, words one-hot, both fitted on the training rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.columns import (
    LARGEST,
    Columns,
    are_dates,
    as_columns,
    is_missing,
    is_numeric,
    numeric_column,
    parse_numbers,
    read_csv,
    require_columns,
)
from chainrule.data.state import (
    FLAG,
    LIST,
    NUMBER,
    POSITIVE,
    TEXT,
    TEXTS,
    fields,
    number,
    optional,
)
from chainrule.errors import InputError

MAX_CATEGORIES = 20  # more words than this, nearly all different, are dropped
MAX_WORDS = 1_000  # of one column that is one-hot encoded
MAX_ONE_HOT = 50_000_000  # ones and zeros of all one-hot encoded columns together

BOOLEANS = {"False": "0", "True": "1"}


@dataclass(frozen=True)
class NumericColumn:
    """(x - mean) / std, and a second feature that is 1 where x is missing.

    name: the column.
    mean, std: of the training rows, after `log`.
    median: of the training rows; stands in for a missing x.
    missing: whether values were missing in training; only then is there a second feature.
    log: c > 0 first replaces x by sgn(x) log(1 + |x|/c), which compresses long tails; 0 does not.
    """

    name: str
    mean: float
    std: float
    median: float
    missing: bool = False
    log: float = 0.0

    @classmethod
    def fit(cls, name: str, values: list[str], log: float = 0.0) -> "NumericColumn | None":
        """The encoding of these training values; None if they are all the same."""
        x = _log_scaled(numeric_column(name, values), log)
        missing = bool(np.isnan(x).any())
        if np.isnan(x).all() or (np.nanmin(x) == np.nanmax(x) and not missing):
            return None
        median = float(np.nanmedian(x))
        filled = np.where(np.isnan(x), median, x)
        return cls(name, float(filled.mean()), float(filled.std()) or 1.0, median, missing, log)

    @property
    def features(self) -> tuple[str, ...]:
        return (self.name, f"{self.name} missing") if self.missing else (self.name,)

    def encode(self, values: list[str]) -> np.ndarray:
        x = _log_scaled(numeric_column(self.name, values), self.log)
        absent = np.isnan(x)
        z = (np.where(absent, self.median, x) - self.mean) / self.std
        return np.stack([z, absent] if self.missing else [z], axis=1)

    @classmethod
    def from_json(cls, state: Any) -> "NumericColumn":
        numbers = {"mean": NUMBER, "std": POSITIVE, "median": NUMBER}
        more = {"missing": optional(FLAG), "log": optional(number(0.0, LARGEST))}
        return cls(**fields(state, "a column", name=TEXT, **numbers, **more))


@dataclass(frozen=True)
class CategoricalColumn:
    """One-hot: one feature per word of the training rows; all zeros for other or missing words.

    name: the column.
    words: its words in training, in alphabetical order.
    """

    name: str
    words: tuple[str, ...]

    @classmethod
    def fit(cls, name: str, values: list[str]) -> "CategoricalColumn | None":
        """The encoding of these training values; None if they are all the same."""
        words = sorted({value for value in values if not is_missing(value)})
        same = len(words) == 1 and not any(map(is_missing, values))
        return None if not words or same else cls(name, tuple(words))

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={word}" for word in self.words)

    def encode(self, values: list[str]) -> np.ndarray:
        place = {word: number for number, word in enumerate(self.words)}
        known = [(row, place[value]) for row, value in enumerate(values) if value in place]
        one_hot = np.zeros((len(values), len(self.words)), np.float32)
        one_hot[tuple(np.array(known, np.int64).reshape(-1, 2).T)] = 1
        return one_hot

    @classmethod
    def from_json(cls, state: Any) -> "CategoricalColumn":
        found = fields(state, "a column", name=TEXT, words=TEXTS)
        return cls(found["name"], tuple(found["words"]))


@dataclass(frozen=True)
class TableEncoder:
    """Rows of a table as tensors.

    columns: the encoding of each input column.
    target: the column to predict.
    classes: the class names in label order; empty for regression.
    remarks: the columns that were dropped, and why.
    """

    columns: tuple[NumericColumn | CategoricalColumn, ...]
    target: str
    classes: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """The name of each column of the tensor."""
        return tuple(feature for column in self.columns for feature in column.features)

    def encode(self, source: Any) -> Tensor:
        """(rows, features) of a CSV file, a DataFrame or a dictionary; ignores others."""
        table = as_columns(source)
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
        table = read_csv(path)
        with errors_naming(path):
            return self.encode(table)

    def encode_target(self, rows: Any) -> Tensor:
        """(rows,) class labels as int64, or values as float32 for regression."""
        table = as_columns(rows)
        require_columns(table, [self.target])
        values = table[self.target]
        if any(map(is_missing, values)):
            raise InputError(
                f"column {self.target!r}: a target is missing; expected one in every row"
            )
        if not self.classes:
            plain = [BOOLEANS.get(value, value) for value in values]
            return torch.from_numpy(numeric_column(self.target, plain)).float()
        label = {name: number for number, name in enumerate(self.classes)}
        names = class_names(values)
        unseen = next((name for name in names if name not in label), None)
        if unseen is not None:
            raise InputError(
                f"column {self.target!r}: expected {', '.join(self.classes)}, got {unseen!r}"
            )
        return torch.tensor([label[name] for name in names])

    def to_json(self) -> dict[str, Any]:
        return {"kind": "table", **asdict(self)}

    @classmethod
    def from_json(cls, state: Any) -> "TableEncoder":
        found = fields(
            state, "the encoder of a table", columns=LIST, target=TEXT, classes=TEXTS, remarks=TEXTS
        )
        columns = tuple(
            (CategoricalColumn if "words" in column else NumericColumn).from_json(column)
            if isinstance(column, dict)
            else NumericColumn.from_json(column)
            for column in found["columns"]
        )
        return cls(columns, found["target"], tuple(found["classes"]), tuple(found["remarks"]))


def class_names(values: list[str]) -> list[str]:
    """The labels, with whole numbers in their shortest form: 1 and 1.0 are one class."""
    found = parse_numbers(values)[0].tolist()
    return [f"{x:.0f}" if x % 1 == 0 else label for x, label in zip(found, values, strict=True)]


def fit_columns(
    table: Columns, rows: list[int], log: Mapping[str, float] | None = None
) -> tuple[tuple[NumericColumn | CategoricalColumn, ...], tuple[str, ...]]:
    """(columns, remarks): the encoding of each column, and which columns were dropped.

    rows: the training rows.
    log: scales of the columns to be log-transformed.
    """
    columns: list[NumericColumn | CategoricalColumn] = []
    remarks = []
    for name, values in table.items():
        training = [values[row] for row in rows]
        column: NumericColumn | CategoricalColumn | None
        if is_numeric(name, values):
            numeric_column(name, values)  # refuse here, where row numbers are those of the table
            column = NumericColumn.fit(name, training, (log or {}).get(name, 0.0))
        elif reason := reason_to_drop(values):
            remarks.append(f"column {name!r} was dropped: {reason}")
            continue
        else:
            column = CategoricalColumn.fit(name, training)
        if column is None:
            remarks.append(f"column {name!r} was dropped: it is the same in all training rows")
        else:
            columns.append(column)
    check_one_hot(columns, len(next(iter(table.values()), [])))
    return tuple(columns), tuple(remarks)


def check_one_hot(columns: Sequence[NumericColumn | CategoricalColumn], rows: int) -> None:
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


def _log_scaled(x: np.ndarray, log: float) -> np.ndarray:
    return np.sign(x) * np.log1p(np.abs(x) / log) if log else x

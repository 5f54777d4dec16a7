"""Tables as tensors: numbers standardized, words one-hot, both by what the training rows held."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.data.readers.columns import (
    Columns,
    as_columns,
    holds_numbers,
    is_missing,
    look_like_dates,
    naming,
    numbers,
    parse,
    read_csv,
    require,
)
from chainrule.errors import InputError

MANY = 20  # more different words than this, in more than half of the rows, teach nothing

TRUTH = {"False": "0", "True": "1"}


@dataclass(frozen=True)
class Number:
    """(x - mean) / std with the training median for a missing x, then 1 where x was missing.

    log: a number c > 0 replaces x by sgn(x) log(1 + |x|/c) first, which tames long tails.
    missing: whether the training rows missed a value; only then there is the second feature.
    """

    name: str
    mean: float
    std: float
    median: float
    missing: bool = False
    log: float = 0.0

    @classmethod
    def fit(cls, name: str, values: list[str], log: float = 0.0) -> "Number | None":
        """None where the training rows hold nothing to tell them apart."""
        x = _scaled(numbers(name, values), log)
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
        x = _scaled(numbers(self.name, values), self.log)
        absent = np.isnan(x)
        z = (np.where(absent, self.median, x) - self.mean) / self.std
        return np.stack([z, absent] if self.missing else [z], axis=1)


@dataclass(frozen=True)
class Category:
    """One feature per word of the training rows; an unseen or missing word is all zeros."""

    name: str
    words: tuple[str, ...]

    @classmethod
    def fit(cls, name: str, values: list[str]) -> "Category | None":
        """None where the training rows hold nothing to tell them apart."""
        words = sorted({value for value in values if not is_missing(value)})
        same = len(words) == 1 and not any(map(is_missing, values))
        return None if not words or same else cls(name, tuple(words))

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name}={word}" for word in self.words)

    def encode(self, values: list[str]) -> np.ndarray:
        return np.array([[value == word for word in self.words] for value in values])


@dataclass(frozen=True)
class TableEncoder:
    """Rows of a table as tensors.

    classes: the names of the target's classes in label order; empty for regression.
    notes: the columns that were left out, and why.
    """

    columns: tuple[Number | Category, ...]
    target: str
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> tuple[str, ...]:
        """What each column of the tensor is."""
        return tuple(feature for column in self.columns for feature in column.features)

    def encode(self, rows: Any) -> Tensor:
        """(rows, features) of a CSV file, a DataFrame or a dictionary; ignores other columns."""
        table = as_columns(rows)
        require(table, [column.name for column in self.columns])
        parts = [column.encode(table[column.name]) for column in self.columns]
        return torch.from_numpy(np.concatenate(parts, axis=1)).float()

    def encode_file(self, path: str | Path) -> Tensor:
        table = read_csv(path)
        with naming(path):
            return self.encode(table)

    def encode_target(self, rows: Any) -> Tensor:
        """(rows,) class numbers as int64, or values as float32 for regression."""
        table = as_columns(rows)
        require(table, [self.target])
        values = table[self.target]
        if any(map(is_missing, values)):
            raise InputError(f"column {self.target!r}: expected a target in every row")
        if not self.classes:
            plain = [TRUTH.get(value, value) for value in values]
            return torch.from_numpy(numbers(self.target, plain)).float()
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
    def from_json(cls, state: dict[str, Any]) -> "TableEncoder":
        columns = tuple(
            Category(column["name"], tuple(column["words"]))
            if "words" in column
            else Number(**column)
            for column in state["columns"]
        )
        return cls(columns, state["target"], tuple(state["classes"]), tuple(state["notes"]))


def class_names(values: list[str]) -> list[str]:
    """Labels as they are; whole numbers in their shortest form, so that 1 and 1.0 are one class."""
    found = parse(values)[0].tolist()
    return [f"{x:.0f}" if x % 1 == 0 else label for x, label in zip(found, values, strict=True)]


def fit_columns(
    table: Columns, rows: list[int], log: Mapping[str, float] | None = None
) -> tuple[tuple[Number | Category, ...], tuple[str, ...]]:
    """(columns, notes): each column's encoding by the given rows, and what was left out."""
    columns: list[Number | Category] = []
    notes = []
    for name, values in table.items():
        training = [values[row] for row in rows]
        column: Number | Category | None
        if holds_numbers(name, values):
            numbers(name, values)  # refuse here, where row numbers are the table's own
            column = Number.fit(name, training, (log or {}).get(name, 0.0))
        elif reason := unhelpful(values):
            notes.append(f"column {name!r} was left out: {reason}")
            continue
        else:
            column = Category.fit(name, training)
        if column is None:
            notes.append(f"column {name!r} was left out: it is the same in all training rows")
        else:
            columns.append(column)
    return tuple(columns), tuple(notes)


def unhelpful(values: list[str]) -> str:
    """Why one feature per word would not help; empty where it may."""
    words = [value for value in values if not is_missing(value)]
    different = len(set(words))
    if different <= MANY:
        return ""
    if look_like_dates(words):
        return "its values look like dates; add numbers such as the year or the days since"
    return "its words are nearly all different" if different > len(words) / 2 else ""


def _scaled(x: np.ndarray, log: float) -> np.ndarray:
    return np.sign(x) * np.log1p(np.abs(x) / log) if log else x

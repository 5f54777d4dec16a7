"""Encodings of one column each: numbers standardized, words one-hot, fitted on training rows."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from chainrule.data.readers.tables.column_kinds import LARGEST, numeric_column
from chainrule.data.readers.tables.date_column import DateColumn
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.word_columns import (
    EmbeddedColumn,
    HashedColumn,
    TargetColumn,
    places,
)
from chainrule.data.state import (
    FLAG,
    NUMBER,
    POSITIVE,
    TEXT,
    TEXTS,
    fields,
    number,
    one_of,
    optional,
)


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
        x = log_scaled(numeric_column(name, values), log)
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
        x = log_scaled(numeric_column(self.name, values), self.log)
        absent = np.isnan(x)
        z = (np.where(absent, self.median, x) - self.mean) / self.std
        return np.stack([z, absent] if self.missing else [z], axis=1)

    def restored(self, z: np.ndarray) -> np.ndarray:
        """Standardized numbers as the column has them."""
        x = z.astype(np.float64) * self.std + self.mean
        return np.sign(x) * self.log * np.expm1(np.abs(x)) if self.log else x

    def sample(self) -> float:
        """A usual value."""
        return round(self.median, 3)

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

    def places(self, values: list[str]) -> list[int | None]:
        """The feature of each word; a word in other case is the same unless training had both."""
        return places(self.words, values)

    def encode(self, values: list[str]) -> np.ndarray:
        found = self.places(values)
        known = [(row, place) for row, place in enumerate(found) if place is not None]
        one_hot = np.zeros((len(values), len(self.words)), np.float32)
        one_hot[tuple(np.array(known, np.int64).reshape(-1, 2).T)] = 1
        return one_hot

    def sample(self) -> str:
        """A usual value."""
        return self.words[0]

    @classmethod
    def from_json(cls, state: Any) -> "CategoricalColumn":
        found = fields(state, "a column", name=TEXT, words=TEXTS)
        return cls(found["name"], tuple(found["words"]))


Column = (
    NumericColumn | CategoricalColumn | DateColumn | TargetColumn | HashedColumn | EmbeddedColumn
)
KINDS = {kind.kind: kind for kind in (DateColumn, TargetColumn, HashedColumn, EmbeddedColumn)}


def column_to_json(column: Column) -> dict[str, Any]:
    """A column as plain values, from which `column_from_json` restores it."""
    return ({"kind": column.kind} if hasattr(column, "kind") else {}) | asdict(column)


def column_from_json(state: Any) -> Column:
    """The column of such values; those of numbers and of one-hot encoded words have no kind."""
    if isinstance(state, dict) and "kind" in state:
        kind = fields(state, "a column", kind=one_of(*KINDS))["kind"]
        return KINDS[kind].from_json(state)
    words = isinstance(state, dict) and "words" in state
    return (CategoricalColumn if words else NumericColumn).from_json(state)


def log_scaled(x: np.ndarray, log: float) -> np.ndarray:
    return np.sign(x) * np.log1p(np.abs(x) / log) if log else x

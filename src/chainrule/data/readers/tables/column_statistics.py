"""What is known of a column after one pass over it, part by part, in bounded memory."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chainrule.data.readers.tables.column_checks import is_identifier
from chainrule.data.readers.tables.column_encodings import CategoricalColumn, Column, NumericColumn
from chainrule.data.readers.tables.column_fitting import (
    MAX_AUTO,
    MAX_WORDS,
    reason_to_drop,
    tail_scale,
)
from chainrule.data.readers.tables.date_column import DateColumn, date_form
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.parquet import days, numbers, words
from chainrule.data.readers.tables.table import MAX_INTEGER_CLASSES, infer_classes
from chainrule.data.readers.tables.word_columns import TargetColumn
from chainrule.errors import InputError

SAME = "it is the same in all training rows"
IDENTIFIER = "it is an id, another one in every row; `keep` keeps it"
MOST_WORDS = 100_000  # of one column, which are held in memory


@dataclass(frozen=True)
class Choices:
    """What the user has chosen for the columns.

    keep: columns that are encoded although they look like ids.
    date_order: "day-first" or "month-first" for dates that leave it open.
    long_tails: whether columns of numbers with a long tail are log-transformed.
    """

    keep: tuple[str, ...] = ()
    date_order: str = "auto"
    long_tails: bool = False

    def kept(self, name: str) -> bool:
        return name in self.keep


class ColumnStatistics(ABC):
    """Counts the training rows of one column.

    name: the column.
    """

    def __init__(self, name: str, how: "Choices"):
        self.name, self.how = name, how

    @abstractmethod
    def add(self, cells: Any, training: np.ndarray) -> None:
        """Count the training rows of a part.

        cells: all of the part, as pyarrow's array.
        training: the numbers of the training rows.
        """

    @abstractmethod
    def fitted(self, sample: Any) -> tuple[Column | None, str]:
        """(column, note), or None and the reason why it is dropped.

        sample: some training rows.
        """


class NumberStatistics(ColumnStatistics):
    """Mean and sum of squared deviations (Chan, Golub and LeVeque 1983), range, missing values."""

    def __init__(self, name: str, how: "Choices"):
        super().__init__(name, how)
        self.present = self.missing = 0
        self.mean = self.squares = 0.0
        self.low, self.high = math.inf, -math.inf
        self.next_number: float | None = None  # where the column has numbered all rows so far
        self.numbers_rows = True

    def add(self, cells: Any, training: np.ndarray) -> None:
        every = numbers(self.name, cells)
        self.count_up(every)
        x = every[training]
        known = x[~np.isnan(x)]
        self.missing += len(x) - len(known)
        if not len(known):
            return
        number, mean = len(known), float(known.mean())
        total, away = self.present + number, mean - self.mean
        self.squares += float(((known - mean) ** 2).sum()) + away**2 * self.present * number / total
        self.mean += away * number / total
        self.present = total
        self.low, self.high = min(self.low, known.min()), max(self.high, known.max())

    def count_up(self, x: np.ndarray) -> None:
        """Note whether the column still counts the rows."""
        if self.numbers_rows and len(x):
            first = x[0] if self.next_number is None else self.next_number
            self.numbers_rows = first % 1 == 0 and bool((x == first + np.arange(len(x))).all())
            self.next_number = first + len(x)

    def fitted(self, sample: Any) -> tuple[Column | None, str]:
        """Missing values stand at the median of the sample, long tails and dates show in it."""
        if self.numbers_rows and self.present > 1 and not self.how.kept(self.name):
            return None, "it numbers the rows"
        if not self.present or (self.low == self.high and not self.missing):
            return None, SAME
        values = numbers(self.name, sample)
        known = values[~np.isnan(values)]
        if (known % 1 == 0).all():
            listed = [f"{value:.0f}" for value in known]
            if form := date_form(self.name, listed, "day-first"):
                return dated(DateColumn.fit(self.name, listed, range(len(listed)), form))
            named = not self.missing and is_identifier(self.name, listed)
            if named and not self.how.kept(self.name):
                return None, IDENTIFIER
        if self.how.long_tails and (scale := tail_scale(known)):
            column = NumericColumn.fit(
                self.name, ["" if v != v else repr(v) for v in values.tolist()], scale
            )
            if column is not None:
                note = f"column {self.name!r} has a long tail: log(1 + x / {scale:.4g}) is taken"
                return replace(column, missing=bool(self.missing)), note
        median = float(np.median(known)) if len(known) else self.mean
        total = self.present + self.missing
        mean = (self.present * self.mean + self.missing * median) / total
        squares = self.squares + self.present * (self.mean - mean) ** 2
        squares += self.missing * (median - mean) ** 2
        std = math.sqrt(squares / total) or 1.0
        return NumericColumn(self.name, mean, std, median, missing=bool(self.missing)), ""


class WordStatistics(ColumnStatistics):
    """The different words, up to a limit."""

    def __init__(self, name: str, how: "Choices"):
        super().__init__(name, how)
        self.found: set[str] = set()
        self.missing = False

    def add(self, cells: Any, training: np.ndarray) -> None:
        if len(self.found) > MOST_WORDS:
            return
        known, codes = words(cells)
        present = np.unique(codes[training])
        chosen = {known[code] for code in present if code >= 0}
        absent = {word for word in chosen if is_missing(word)}
        self.missing |= bool(absent) or bool((present < 0).any())
        self.found |= chosen - absent

    def fitted(self, sample: Any) -> tuple[Column | None, str]:
        """Ids and dates show in the sample; many words are encoded by the mean of their target."""
        if not self.found or (len(self.found) == 1 and not self.missing):
            return None, SAME
        known, codes = words(sample)
        listed = [known[code] if code >= 0 else "" for code in codes]
        form = date_form(self.name, listed, self.how.date_order)
        if form is not None:
            return dated(DateColumn.fit(self.name, listed, range(len(listed)), form))
        if not self.how.kept(self.name):
            if is_identifier(self.name, listed):
                return None, IDENTIFIER
            if reason := reason_to_drop(listed):
                return None, reason
        if len(self.found) > MOST_WORDS:
            return None, f"it has more than {MOST_WORDS:,} different words"
        found = tuple(sorted(self.found))
        if len(found) <= MAX_AUTO:
            return CategoricalColumn(self.name, found), ""
        return TargetColumn(self.name, found, ((),) * len(found), ()), ""  # its means follow


class DateStatistics(ColumnStatistics):
    """Dates and times, whose course and cycles the sample shows."""

    def add(self, cells: Any, training: np.ndarray) -> None:
        """Nothing is counted."""

    def fitted(self, sample: Any) -> tuple[Column | None, str]:
        return dated(DateColumn(self.name, (), 0.0, 1.0, 0.0).fitted(days(sample)))


def dated(column: DateColumn | None) -> tuple[Column | None, str]:
    """The column with its note, or why it is dropped."""
    return (None, SAME) if column is None else (column, column.described())


class TargetStatistics:
    """The different values of a target, up to a limit.

    name: the column.
    numeric: whether it holds numbers.
    """

    def __init__(self, name: str, numeric: bool):
        self.name, self.numeric = name, numeric
        self.found: set[Any] = set()
        self.places: dict[str, int] = {}

    def read(self, cells: Any) -> np.ndarray:
        """Numbers, NaN where one is missing; or numbers of words, -1 where one is missing."""
        if self.numeric:
            return numbers(self.name, cells)
        known, codes = words(cells)
        for word in known:
            self.places.setdefault(word, len(self.places))
        if len(self.places) > 10 * MAX_WORDS:
            raise InputError(
                f"the target {self.name!r} looks like an identifier: it has more than "
                f"{10 * MAX_WORDS:,} words"
            )
        table = [-1 if is_missing(word) else self.places[word] for word in known]
        return np.array([*table, -1], np.int64)[codes]

    def add(self, values: np.ndarray) -> None:
        """Note the values of labeled rows."""
        if len(self.found) <= MAX_WORDS:
            self.found |= set(np.unique(values).tolist())

    def names(self, task: str | None) -> tuple[str, ...]:
        """The class names in label order; empty for regression."""
        many = len(self.found) > MAX_WORDS
        if many and (task == "classification" or not self.numeric):
            raise InputError(
                f"the target {self.name!r} has more than {MAX_WORDS:,} different values; expected "
                "classes"
            )
        if self.numeric:
            few = len(self.found) <= MAX_INTEGER_CLASSES and all(v % 1 == 0 for v in self.found)
            if task == "regression" or (task is None and not few):
                if len(self.found) < 2:
                    return infer_classes(self.name, list(map(str, self.found)), task)  # refuses
                return ()
            return infer_classes(self.name, list(map(str, self.found)), "classification")
        if task == "regression":
            raise InputError(f"column {self.name!r}: expected numbers for a regression, got words")
        listed = [word for word, place in self.places.items() if place in self.found]
        return infer_classes(self.name, listed, task or "classification")

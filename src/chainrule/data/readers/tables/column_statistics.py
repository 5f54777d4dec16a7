"""What is known of a column after one pass over it, part by part, in bounded memory."""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from chainrule.data.readers.tables.column_encodings import CategoricalColumn, Column, NumericColumn
from chainrule.data.readers.tables.column_fitting import MAX_WORDS
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.parquet import numbers, words
from chainrule.data.readers.tables.table import MAX_INTEGER_CLASSES, infer_classes
from chainrule.errors import InputError

SAME = "it is the same in all training rows"


class ColumnStatistics(ABC):
    """Counts the training rows of one column.

    name: the column.
    """

    def __init__(self, name: str):
        self.name = name

    @abstractmethod
    def add(self, cells: Any, training: np.ndarray) -> None:
        """Count the training rows of a part.

        cells: all of the part, as pyarrow's array.
        training: the numbers of the training rows.
        """

    @abstractmethod
    def fitted(self, sample: Any) -> tuple[Column | None, str]:
        """(column, ""), or None and the reason why it is dropped.

        sample: some training rows.
        """


class NumberStatistics(ColumnStatistics):
    """Mean and sum of squared deviations (Chan, Golub and LeVeque 1983), range, missing values."""

    def __init__(self, name: str):
        super().__init__(name)
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
        """Missing values stand at the median of the sample."""
        if self.numbers_rows and self.present > 1:
            return None, "it numbers the rows"
        if not self.present or (self.low == self.high and not self.missing):
            return None, SAME
        values = numbers(self.name, sample)
        known = values[~np.isnan(values)]
        median = float(np.median(known)) if len(known) else self.mean
        total = self.present + self.missing
        mean = (self.present * self.mean + self.missing * median) / total
        squares = self.squares + self.present * (self.mean - mean) ** 2
        squares += self.missing * (median - mean) ** 2
        std = math.sqrt(squares / total) or 1.0
        return NumericColumn(self.name, mean, std, median, missing=bool(self.missing)), ""


class WordStatistics(ColumnStatistics):
    """The different words, up to a limit."""

    def __init__(self, name: str):
        super().__init__(name)
        self.found: set[str] = set()
        self.missing = False

    def add(self, cells: Any, training: np.ndarray) -> None:
        if len(self.found) > MAX_WORDS:
            return
        known, codes = words(cells)
        present = np.unique(codes[training])
        chosen = {known[code] for code in present if code >= 0}
        absent = {word for word in chosen if is_missing(word)}
        self.missing |= bool(absent) or bool((present < 0).any())
        self.found |= chosen - absent

    def fitted(self, sample: Any) -> tuple[Column | None, str]:
        if len(self.found) > MAX_WORDS:
            return None, f"it has more than {MAX_WORDS:,} different words"
        if not self.found or (len(self.found) == 1 and not self.missing):
            return None, SAME
        return CategoricalColumn(self.name, tuple(sorted(self.found))), ""


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

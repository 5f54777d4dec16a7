"""Encodings of columns with many different words, fitted on training rows.

    target      (Σ y + m ȳ) / (n + m) over the n rows of a word, standardized      m = 10
    hashed      one-hot of crc32(word) mod B: any word has a place, several may share one
    embedding   the number of the word, of which a network learns a vector

The target encoding of a training row is computed without the fifth of the rows that it belongs to:
with its own y in the mean, a rare word would give its answer away. Micci-Barreca (2001), SIGKDD
Explorations 3(1); Weinberger et al. (2009), ICML.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.state import LIST, TEXT, TEXTS, fields, is_number, whole
from chainrule.errors import InputError

PRIOR_ROWS = 10  # m: how many rows the mean of all weighs against the mean of a word
FOLDS = 5
MAX_BUCKETS = 4096
RARE = 2  # a word with fewer training rows has no vector of its own


def places(words: Sequence[str], values: Sequence[str]) -> list[int | None]:
    """The number of each word; one in other case is the same unless training had both."""
    place = {word: number for number, word in enumerate(words)}
    folded = {word.casefold(): number for word, number in place.items()}
    return [place.get(v, None if is_missing(v) else folded.get(v.casefold())) for v in values]


@dataclass(frozen=True)
class TargetColumn:
    """The mean target of a word; 0, the mean of all rows, for other and missing words.

    name: the column.
    words: its words in training, in alphabetical order.
    values: (words, targets): the standardized means.
    targets: what each mean is of: classes, or the name of the target.
    """

    kind: ClassVar[str] = "target"
    name: str
    words: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    targets: tuple[str, ...]

    @classmethod
    def fit(
        cls, name: str, values: list[str], y: np.ndarray, targets: Sequence[str]
    ) -> "tuple[TargetColumn, np.ndarray] | None":
        """(column, cross-fitted encoding of the training rows); None if all words are the same.

        values: of the training rows.
        y: (rows, targets).
        """
        words = tuple(sorted({value for value in values if not is_missing(value)}))
        if len(words) < 2:
            return None
        found = places(words, values)
        rows = np.array([len(words) if place is None else place for place in found])
        means = word_means(rows, y, len(words))
        scale = means[rows].std(0)
        scale = np.where(scale > 0, scale, 1.0)
        own = np.empty_like(y)
        for fold in range(FOLDS):
            held = np.arange(len(rows)) % FOLDS == fold
            own[held] = word_means(rows[~held], y[~held], len(words))[rows[held]]
        standard = means[:-1] / scale
        column = cls(name, words, tuple(map(tuple, standard.tolist())), tuple(targets))
        return column, own / scale

    def with_sums(
        self, sums: np.ndarray, targets: Sequence[str], every: np.ndarray
    ) -> "TargetColumn":
        """The column with the means of these rows, in the units of all rows.

        sums: (words + 1, targets + 1), Σ y and the number of rows of each word and of no word.
        every: the same of all training rows.
        """

        def means(found: np.ndarray) -> np.ndarray:
            total, number = found[:, :-1], found[:, -1:]
            mean = total.sum(0) / max(number.sum(), 1)
            return (total - number * mean)[:-1] / (number[:-1] + PRIOR_ROWS)

        weight = every[:, -1:] / max(every[:, -1].sum(), 1)
        whole = np.vstack([means(every), np.zeros(every.shape[1] - 1)])
        middle = (weight * whole).sum(0)
        scale = np.sqrt((weight * (whole - middle) ** 2).sum(0))
        standard = means(sums) / np.where(scale > 0, scale, 1.0)
        return replace(self, values=tuple(map(tuple, standard.tolist())), targets=tuple(targets))

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"mean {target} by {self.name}" for target in self.targets)

    def encode(self, values: list[str]) -> np.ndarray:
        table = np.array([*self.values, (0.0,) * len(self.targets)])
        rows = [len(self.words) if k is None else k for k in places(self.words, values)]
        return table[rows]

    def described(self) -> str:
        return (
            f"column {self.name!r} has {len(self.words):,} different words and is encoded by the "
            "mean of the target of each word; `categories` changes that"
        )

    def sample(self) -> str:
        """A usual value."""
        return self.words[0]

    @classmethod
    def from_json(cls, state: Any) -> "TargetColumn":
        found = fields(state, "a column", name=TEXT, words=TEXTS, values=LIST, targets=TEXTS)
        width, rows = len(found["targets"]), found["values"]
        if len(rows) != len(found["words"]) or not all(
            LIST.holds(row) and len(row) == width and all(map(is_number, row)) for row in rows
        ):
            raise InputError(f"expected {width} numbers for each word of {found['name']!r}")
        values = tuple(tuple(map(float, row)) for row in rows)
        return cls(found["name"], tuple(found["words"]), values, tuple(found["targets"]))


def word_means(rows: np.ndarray, y: np.ndarray, words: int) -> np.ndarray:
    """(words + 1, targets): smoothed means minus that of all; the last row, no word, is 0."""
    mean = y.mean(0)
    total = np.zeros((words + 1, y.shape[1]))
    np.add.at(total, rows, y - mean)
    number = np.bincount(rows, minlength=words + 1)[:, None]
    found = total / (number + PRIOR_ROWS)
    found[-1] = 0
    return found


@dataclass(frozen=True)
class HashedColumn:
    """One-hot by the hash of a word; all zeros where it is missing.

    name: the column.
    buckets: number of features.
    """

    kind: ClassVar[str] = "hashed"
    name: str
    buckets: int

    @classmethod
    def fit(cls, name: str, values: list[str]) -> "HashedColumn | None":
        """As many buckets as a power of two below the number of words, at least 16, at most 256."""
        words = len({value for value in values if not is_missing(value)})
        return None if words < 2 else cls(name, 2 ** min(8, max(4, words.bit_length() - 1)))

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(f"{self.name} hash {k}" for k in range(self.buckets))

    def encode(self, values: list[str]) -> np.ndarray:
        known = [row for row, value in enumerate(values) if not is_missing(value)]
        one_hot = np.zeros((len(values), self.buckets), np.float32)
        one_hot[known, [self.bucket(values[row]) for row in known]] = 1
        return one_hot

    def bucket(self, word: str) -> int:
        """The feature of a word, whatever its case."""
        return crc32(word.casefold().encode("utf-8", "surrogatepass")) % self.buckets

    def described(self) -> str:
        return f"the words of column {self.name!r} share {self.buckets:,} features by their hash"

    def sample(self) -> str:
        """A usual value."""
        return "a"

    @classmethod
    def from_json(cls, state: Any) -> "HashedColumn":
        return cls(**fields(state, "a column", name=TEXT, buckets=whole(1, MAX_BUCKETS)))


@dataclass(frozen=True)
class EmbeddedColumn:
    """The number of a word, from 1 on; 0 for rare, other and missing words.

    name: the column.
    words: those with two training rows or more, in alphabetical order.
    """

    kind: ClassVar[str] = "embedding"
    name: str
    words: tuple[str, ...]

    @classmethod
    def fit(cls, name: str, values: list[str]) -> "EmbeddedColumn | None":
        counts = Counter(value for value in values if not is_missing(value))
        words = tuple(sorted(word for word, number in counts.items() if number >= RARE))
        return cls(name, words) if words and len(counts) > 1 else None

    @property
    def features(self) -> tuple[str, ...]:
        return (f"number of {self.name}",)

    def encode(self, values: list[str]) -> np.ndarray:
        found = places(self.words, values)
        return np.array([[0 if k is None else k + 1] for k in found], np.float32).reshape(-1, 1)

    def described(self) -> str:
        return f"the network learns a vector for each of {len(self.words):,} words of {self.name!r}"

    def sample(self) -> str:
        """A usual value."""
        return self.words[0]

    @classmethod
    def from_json(cls, state: Any) -> "EmbeddedColumn":
        found = fields(state, "a column", name=TEXT, words=TEXTS)
        return cls(found["name"], tuple(found["words"]))


WordColumn = TargetColumn | HashedColumn | EmbeddedColumn

"""Which encoding each column of a table gets, decided by what it holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chainrule.data.readers.tables.column_encodings import CategoricalColumn, Column, NumericColumn
from chainrule.data.readers.tables.column_kinds import is_numeric, numeric_column
from chainrule.data.readers.tables.columns import Columns, Faults
from chainrule.data.readers.tables.date_column import DateColumn, date_form
from chainrule.data.readers.tables.numbers import is_missing
from chainrule.data.readers.tables.word_columns import EmbeddedColumn, HashedColumn, TargetColumn
from chainrule.errors import InputError

CATEGORIES = ("auto", "one-hot", "target", "hashed", "embedding")
MAX_CATEGORIES = 20  # more words than this, nearly all different, are dropped
MAX_WORDS = 1_000  # of one column that is one-hot encoded
MAX_AUTO = 50  # words up to which a column is one-hot encoded without being told
LONG_TAIL = 2.0  # skewness of a column with a long tail; that of the exponential distribution
MIN_TAIL = 50  # rows for which a skewness means something
MAX_ONE_HOT = 50_000_000  # ones and zeros of all one-hot encoded columns together


@dataclass(frozen=True)
class Fitting:
    """What decides on the encodings besides the columns themselves.

    log: scales of the columns to be log-transformed.
    long_tails: whether other columns of numbers with a long tail are log-transformed too.
    categories: encoding of words; "auto" is one-hot up to 50 words, then by the target.
    date_order: "day-first" or "month-first" for dates that leave it open.
    keep: columns that are encoded although their words are nearly all different.
    targets: (training rows, targets) for the encoding by the target, and their names.
    """

    log: Mapping[str, float] = field(default_factory=dict)
    long_tails: bool = False
    categories: str = "auto"
    date_order: str = "auto"
    keep: tuple[str, ...] = ()
    targets: tuple[np.ndarray, tuple[str, ...]] | None = None


DEFAULT = Fitting()


@dataclass(frozen=True)
class Fitted:
    """The encodings of a table.

    columns: one for each column that is used.
    remarks: what was dropped, and what is not encoded as a number or one-hot.
    own: the cross-fitted encoding of the training rows by column, where there is one.
    """

    columns: tuple[Column, ...]
    remarks: tuple[str, ...]
    own: Mapping[str, np.ndarray]


def fit_columns(table: Columns, rows: Sequence[int], how: Fitting = DEFAULT) -> Fitted:
    """The encoding of each column by its training rows.

    table: the input columns.
    rows: the training rows.
    how: choices of the user.
    """
    if how.categories not in CATEGORIES:
        raise InputError(f"`categories` must be {', '.join(CATEGORIES)}, got {how.categories!r}")
    columns: list[Column] = []
    remarks: list[str] = []
    own: dict[str, np.ndarray] = {}
    faults = Faults()
    for name, values in table.items():
        with faults:
            column, said = fit_column(name, values, rows, how)
            if isinstance(column, tuple):
                column, own[name] = column
            if column is None:
                remarks.append(f"column {name!r} was dropped: {said}")
            else:
                columns.append(column)
                remarks += [said] if said else []
    faults.refuse()
    check_one_hot(columns, len(next(iter(table.values()), [])))
    return Fitted(tuple(columns), tuple(remarks), own)


def fit_column(name: str, values: list[str], rows: Sequence[int], how: Fitting) -> tuple[Any, str]:
    """(column or (column, own encoding), note), or None and the reason why it is dropped."""
    training = [values[row] for row in rows]
    column: Any
    form = date_form(name, values, how.date_order)
    if form is not None:
        column = DateColumn.fit(name, values, rows, form)
    elif is_numeric(name, values):
        x = numeric_column(name, values)  # refuse here, where row numbers are those of the table
        scale = how.log.get(name) or (tail_scale(x[list(rows)]) if how.long_tails else 0.0)
        column = NumericColumn.fit(name, training, scale)
        if scale and name not in how.log and column is not None:
            return column, f"column {name!r} has a long tail: log(1 + x / {scale:.4g}) is taken"
    else:
        reason = "" if name in how.keep else reason_to_drop(values, how)
        if reason:
            return None, reason
        column = fit_words(name, training, how)
    if column is None:
        return None, "it is the same in all training rows"
    described = column[0] if isinstance(column, tuple) else column
    return column, described.described() if hasattr(described, "described") else ""


def tail_scale(x: np.ndarray) -> float:
    """The median of the positive numbers of a column that is not negative and skewed; else 0."""
    x = x[~np.isnan(x)]
    if len(x) < MIN_TAIL or x.min() < 0 or np.ptp(x) == 0 or not (x > 0).any():
        return 0.0
    z = (x - x.mean()) / x.std()
    return float(np.median(x[x > 0])) if np.mean(z**3) > LONG_TAIL else 0.0


def fit_words(name: str, training: list[str], how: Fitting) -> Any:
    """The encoding of a column of words that the user or the number of its words asks for."""
    different = sum(not is_missing(value) for value in set(training))
    kind = how.categories
    if kind == "auto":
        kind = "one-hot" if different <= MAX_AUTO else "target" if how.targets else "hashed"
    if kind != "one-hot" and different <= MAX_CATEGORIES:
        kind = "one-hot"
    if kind == "one-hot":
        return CategoricalColumn.fit(name, training)
    if kind == "hashed" or (kind == "target" and how.targets is None):
        return HashedColumn.fit(name, training)
    if kind == "embedding":
        return EmbeddedColumn.fit(name, training)
    assert how.targets is not None
    return TargetColumn.fit(name, training, *how.targets)


def check_one_hot(columns: Sequence[Column], rows: int) -> None:
    """Refuse a table whose words would need too much memory."""
    words = {c.name: len(c.words) for c in columns if isinstance(c, CategoricalColumn)}
    if rows * sum(words.values()) > MAX_ONE_HOT:
        name = max(words, key=lambda name: words[name])
        raise InputError(
            f"one-hot encoding {sum(words.values()):,} words in {rows:,} rows takes more than "
            f"{MAX_ONE_HOT:,} numbers; use fewer rows, set `categories` to hashed, or `ignore` "
            f"columns with many words such as {name!r}"
        )


def reason_to_drop(values: list[str], how: Fitting = DEFAULT) -> str:
    """Why a column of words says too little for its number of words; empty if it does not."""
    words = [value for value in values if not is_missing(value)]
    different = len(set(words))
    if different <= MAX_CATEGORIES:
        return ""
    if different > len(words) / 2:
        return "its words are nearly all different; `keep` keeps it"
    if different > MAX_WORDS and how.categories == "one-hot":
        return f"it has {different:,} different words, more than {MAX_WORDS:,}"
    return ""

"""What a column of text holds: numbers, words, dates, or the number of its row."""

from collections import Counter

import numpy as np

from chainrule.data.readers.tables.columns import SAMPLED
from chainrule.data.readers.tables.dates import matched
from chainrule.data.readers.tables.numbers import decimals_of, is_missing, parse_numbers
from chainrule.errors import InputError

LARGEST = 1e30  # float32 cannot hold sums of squares of larger numbers
MAJORITY = 0.8  # a column with this fraction of numbers, but words too, is taken for a mistake


def numeric_column(name: str, values: list[str]) -> np.ndarray:
    """One float64 per value, NaN where it is missing."""
    x, words = parse_numbers(values)
    wrong = [*words, *np.flatnonzero(np.abs(x) > LARGEST)]
    if wrong:
        more = f", and in {len(wrong) - 1:,} more rows" if len(wrong) > 1 else ""
        raise InputError(
            f"column {name!r}, row {wrong[0] + 1} below the header: "
            f"expected a finite number, got {values[wrong[0]]!r}{more}"
        )
    return x


def is_numeric(name: str, values: list[str]) -> bool:
    """Whether a column holds numbers (True) or words (False); a doubtful one is refused."""
    x, rows = parse_numbers(values)
    if not rows:
        return True
    if np.isfinite(x).sum() >= MAJORITY / (1 - MAJORITY) * len(rows):
        raise InputError(
            f"column {name!r} holds numbers, but {values[rows[0]]!r} in row {rows[0] + 1} below "
            "the header; correct the value, or leave it empty if it is missing"
        )
    words = Counter(values[row] for row in rows)
    formatted = {word: n for word, n in words.items() if decimals_of(word)}
    present = len(values) - sum(map(is_missing, values))
    if formatted and present - len(rows) + sum(formatted.values()) >= MAJORITY * present:
        raise InputError(
            f"column {name!r} writes numbers like {next(iter(formatted))!r}; write plain numbers "
            "like 1234.5: a decimal point, no thousands separators, no currency or percent sign"
        )
    return False


def are_dates(values: list[str]) -> bool:
    """Whether most values look like dates."""
    return sum(matched(value) is not None for value in values) >= MAJORITY * len(values)


def is_row_index(values: list[str]) -> bool:
    """Whether a column counts the rows: consecutive whole numbers, up or down."""
    return counts(values[:SAMPLED]) and counts(values)


def counts(values: list[str]) -> bool:
    """Whether these are consecutive whole numbers, up or down."""
    x = parse_numbers(values)[0]
    if len(x) < 2 or not (np.abs(x) <= LARGEST).all():
        return False
    steps = np.diff(x)
    return bool(x[0] % 1 == 0 and ((steps == 1).all() or (steps == -1).all()))

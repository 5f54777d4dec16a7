"""Tables as columns of text: reading CSV files, recognizing numbers, words and missing values."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from chainrule.data.files import read_bytes
from chainrule.data.state import shown
from chainrule.errors import InputError

Columns = dict[str, list[str]]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "<na>", "nat"})
LARGEST = 1e30  # float32 cannot hold sums of squares of larger numbers
NAMES = 20  # of columns in a message
MAX_FORMATTED = 64  # characters of a cell that may be a formatted number or a date
MAJORITY = 0.8  # a column with this fraction of numbers, but words too, is taken for a mistake
CURRENCY = r"(?:[$€£¥]|USD|EUR|GBP|CHF|JPY)"
FORMATTED = re.compile(
    rf"[-+(]?\s*{CURRENCY}?\s*[-+]?"
    r"(?:\d{1,3}(?:[,'’\s]\d{3})+|\d{1,3}(?:\.\d{3})+(?=,)|\d+)(?:[.,]\d+)?"
    rf"\s*(?:{CURRENCY}|%)?\)?"
)
MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATE = re.compile(
    r"(?:\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2})"
    rf"|\d{{1,2}}[- .]+{MONTH}[-, ]+\d{{2,4}}|{MONTH}[- ]+\d{{1,2}},?[- ]+\d{{4}})"
    r"(?:[T ]+\d{1,2}:\d{2}\S*(?: ?[ap]m)?)?",
    re.IGNORECASE,
)
SIGNATURES = {  # first bytes of files that are sometimes taken for tables
    b"\x1f\x8b": "a gzip archive; unpack it first",
    b"PK\x03\x04": "a zip archive; unpack it first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV in UTF-8",
    b"PAR1": "a Parquet file; save it as CSV, or read it with pandas and pass the DataFrame",
    b"\x89PNG": "a PNG image; expected a table as CSV",
    b"\xff\xd8\xff": "a JPEG image; expected a table as CSV",
    b"%PDF": "a PDF document; expected a table as CSV",
    b"\x93NUMPY": "a NumPy array; load it in Python and pass it to chainrule.data.arrays",
    b"\xff\xfe": "text in UTF-16; save it as CSV in UTF-8",
    b"\xfe\xff": "text in UTF-16; save it as CSV in UTF-8",
}


def as_columns(source: Any) -> Columns:
    """The columns of a CSV file, a pandas DataFrame or a dictionary of columns, as text."""
    if isinstance(source, str | Path):
        return read_csv(source)
    if not hasattr(source, "items"):
        raise InputError(
            "expected a CSV file, a DataFrame or a dictionary of columns, "
            f"got {type(source).__name__}"
        )
    columns: Columns = {}
    for name, values in source.items():
        if str(name) in columns:
            raise InputError(f"there are two columns named {str(name)!r}; rename one")
        items = values.tolist() if hasattr(values, "tolist") else values
        columns[str(name)] = [str(item).strip() for item in items]
    if not columns:
        raise InputError("the table is empty; expected named columns")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        shortest, longest = (pick(lengths, key=lambda name: lengths[name]) for pick in (min, max))
        raise InputError(
            f"expected columns of equal length, got {lengths[shortest]} values of {shortest!r} and "
            f"{lengths[longest]} of {longest!r}"
        )
    return columns


def read_csv(path: str | Path) -> Columns:
    """The columns of a CSV file with a header, delimited by commas, semicolons or tabs."""
    lines = _lines(path, _text(path))
    number, header = next(lines, (1, []))
    if not header:
        raise InputError(f"{path} is empty; expected a line of column names, then the rows")
    _check_header(path, number, header)
    rows = []
    for number, row in lines:
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {number}: expected {len(header)} values, got {len(row)}"
            )
        rows.append(row)
    if not rows:
        raise InputError(f"{path} has column names but no rows")
    return {
        name: list(values) for name, values in zip(header, zip(*rows, strict=True), strict=True)
    }


def _text(path: str | Path) -> str:
    content = read_bytes(path)
    if content.startswith(b"PK") and b"xl/workbook" in content:
        raise InputError(f"{path} is an Excel workbook; save the sheet as CSV in UTF-8")
    for start, what in SIGNATURES.items():
        if content.startswith(start):
            raise InputError(f"{path} is {what}")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; save it as CSV in UTF-8") from error


def _lines(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, values) of every non-blank line."""
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [value.strip() for value in row]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def _check_header(path: str | Path, line: int, header: list[str]) -> None:
    if "" in header:
        raise InputError(
            f"{path}, line {line}: column {header.index('') + 1} has no name; "
            "give it one or remove it (pandas leaves it out with index=False)"
        )
    if not parse_numbers(header)[1]:
        got = f"{', '.join(header[:NAMES])}{', …' * (len(header) > NAMES)}"
        raise InputError(f"{path}, line {line}: expected column names, got the numbers {got}")
    twice = next((name for name, number in Counter(header).items() if number > 1), None)
    if twice is not None:
        raise InputError(f"{path}, line {line}: there are two columns named {twice!r}")


def require_columns(table: Columns, names: Iterable[str]) -> None:
    """Refuse a table that lacks one of these columns."""
    absent = [name for name in names if name not in table]
    if absent:
        raise InputError(
            f"missing column{'s' * (len(absent) > 1)} {listed(absent)}, which the training data "
            f"had; got {listed(table)}"
        )


def listed(names: Iterable[str], most: int = NAMES) -> str:
    """The first different names, and how many more there are."""
    every = list(dict.fromkeys(names))
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(map(shown, every[:most])) + more


def is_missing(value: str) -> bool:
    return value.casefold() in MISSING


def parse_numbers(values: list[str]) -> tuple[np.ndarray, list[int]]:
    """(x, words): one float64 per value, NaN where it is no number, and the rows of words."""
    x = np.full(len(values), np.nan)
    words = []
    for row, value in enumerate(values):
        if value.casefold() in MISSING:
            continue
        try:
            # float("1_000") is 1000.0, but in a table it is a code.
            x[row] = float(value.replace("_", "code"))
        except ValueError:
            words.append(row)
    return x, words


def numeric_column(name: str, values: list[str]) -> np.ndarray:
    """One float64 per value, NaN where it is missing."""
    x, words = parse_numbers(values)
    wrong = [*words, *np.flatnonzero(np.abs(x) > LARGEST)]
    if wrong:
        raise InputError(
            f"column {name!r}, row {wrong[0] + 1} below the header: "
            f"expected a finite number, got {values[wrong[0]]!r}"
        )
    return x


def is_numeric(name: str, values: list[str]) -> bool:
    """Whether a column holds numbers (True) or words (False); a doubtful one is refused."""
    x, rows = parse_numbers(values)
    if not rows:
        return True
    words = [values[row] for row in rows]
    if np.isfinite(x).sum() >= MAJORITY / (1 - MAJORITY) * len(words):
        raise InputError(
            f"column {name!r} holds numbers, but {words[0]!r} in row {rows[0] + 1} below the "
            "header; correct the value, or leave it empty if it is missing"
        )
    formatted = [word for word in words if matches(FORMATTED, word)]
    present = len(values) - sum(map(is_missing, values))
    if formatted and present - len(words) + len(formatted) >= MAJORITY * present:
        raise InputError(
            f"column {name!r} writes numbers like {formatted[0]!r}; write plain numbers like "
            "1234.5: a decimal point, no thousands separators, no currency or percent sign"
        )
    return False


def matches(pattern: re.Pattern[str], cell: str) -> bool:
    """Whether a cell has this form; a long one is text, and the patterns are slow on it."""
    return len(cell) <= MAX_FORMATTED and bool(pattern.fullmatch(cell))


def are_dates(values: list[str]) -> bool:
    """Whether most values look like dates."""
    return sum(matches(DATE, value) for value in values) >= MAJORITY * len(values)


def is_row_index(values: list[str]) -> bool:
    """Whether a column counts the rows: consecutive whole numbers, up or down."""
    x = parse_numbers(values)[0]
    if len(x) < 2 or not (np.abs(x) <= LARGEST).all():
        return False
    steps = np.diff(x)
    return bool(x[0] % 1 == 0 and ((steps == 1).all() or (steps == -1).all()))

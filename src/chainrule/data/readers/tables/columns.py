"""Tables as columns of text: reading CSV files, recognizing numbers, words and missing values."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from chainrule.data.readers.tables.numbers import (
    PlainNumber,
    has_words,
)
from chainrule.data.readers.tables.table_files import Sheet, load
from chainrule.data.state import shown
from chainrule.errors import InputError

Columns = dict[str, list[str]]

MARKS_BETWEEN = ",;\t|"  # columns
SAMPLE, SAMPLED = 20_000, 50  # characters and lines that are looked at first
NAMES = 20  # of columns in a message
MAX_FAULTS = 10  # in a message


class Table(NamedTuple):
    """The columns of a table as text, and what was decided while reading them."""

    columns: Columns
    remarks: tuple[str, ...] = ()


class FaultsError(InputError):
    """Several faults in one error.

    found: a sentence for each.
    """

    def __init__(self, message: str, found: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.found = found


class Faults(AbstractContextManager["Faults"]):
    """Collects the errors of several `with` blocks, to be told at once."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if isinstance(error, InputError):
            self.found += error.found if isinstance(error, FaultsError) else [str(error)]
        return isinstance(error, InputError)

    def refuse(self, where: str = "") -> None:
        """Raise one error for all faults, if there are any."""
        if not self.found:
            return
        more = f"; and {len(self.found) - MAX_FAULTS:,} more" * (len(self.found) > MAX_FAULTS)
        count = f"{len(self.found):,} faults: " * (len(self.found) > 1)
        said = where + count + "; ".join(self.found[:MAX_FAULTS]) + more
        raise FaultsError(said, self.found)


def as_columns(source: Any) -> Columns:
    """The columns of a file, a DataFrame or a dictionary of columns, as text."""
    return read_table(source).columns


def read_csv(path: str | Path) -> Columns:
    """The columns of a CSV file with a header, delimited by one of , ; tab | and space."""
    return read_table(path).columns


def read_table(source: Any, query: str = "") -> Table:
    """The columns of a table as text, with remarks.

    source: the path of a file, the address of a database, a pandas or polars DataFrame, or a
        dictionary of columns.
    query: SQL, for a database.
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, str | Path):
        content = load(source, query)
        return _sheet(source, content) if isinstance(content, Sheet) else _csv(source, *content)
    if hasattr(source, "get_columns"):  # polars
        return _checked_lengths(_named((s.name, s.to_list()) for s in source.get_columns()))
    if not hasattr(source, "items"):
        raise InputError(
            "expected the path of a table, a DataFrame or a dictionary of columns, "
            f"got {type(source).__name__}"
        )
    pairs = ((n, v.tolist() if hasattr(v, "tolist") else v) for n, v in source.items())
    return _checked_lengths(_named(pairs))


def cell(value: Any) -> str:
    """A value as text; numbers remember that they were numbers."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if isinstance(value, PlainNumber) else value.strip()
    if isinstance(value, int | float | Decimal | np.number) and not isinstance(value, bool):
        return PlainNumber(value)
    return str(value).strip()


def _named(pairs: Iterable[tuple[Any, Iterable[Any]]]) -> Table:
    """Columns with different names, none of them empty."""
    names, values = [], []
    for name, column in pairs:
        names.append(str(name).strip())
        values.append([v.strip() if type(v) is str else cell(v) for v in column])
    names, remarks = unique_names(names)
    return Table(dict(zip(names, values, strict=True)), remarks)


def unique_names(header: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """(names, remarks): columns without a name are numbered, and so are equal names."""
    names: list[str] = []
    remarks = []
    given, used, copies = set(header), set[str](), Counter[str]()
    for place, name in enumerate(header, 1):
        first = new = name or f"column {place}"
        while new in used or (new != name and new in given):
            copies[first] += 1
            new = f"{first} ({copies[first] + 1})"
        if not name:
            remarks.append(f"column {place} has no name and is called {new!r}")
        elif new != name:
            remarks.append(f"another column named {name!r} is called {new!r}")
        used.add(new)
        names.append(new)
    return names, tuple(remarks[:NAMES])


def _checked_lengths(table: Table) -> Table:
    if not table.columns:
        raise InputError("the table is empty; expected named columns")
    lengths = {name: len(values) for name, values in table.columns.items()}
    if len(set(lengths.values())) > 1:
        shortest, longest = (pick(lengths, key=lambda name: lengths[name]) for pick in (min, max))
        raise InputError(
            f"expected columns of equal length, got {lengths[shortest]} values of {shortest!r} and "
            f"{lengths[longest]} of {longest!r}"
        )
    return table


def _csv(path: str | Path, text: str, remarks: tuple[str, ...]) -> Table:
    lines = _lines(path, text)
    number, header = next(lines, (1, []))
    if by_spaces(text):
        remarks = (*remarks, "the columns are separated by spaces")
    return _rows(path, (number, header), list(lines), remarks)


def _sheet(path: str | Path, sheet: Sheet) -> Table:
    rows = ([cell(value) for value in row] for row in sheet.rows)
    return _rows(path, (1, sheet.header), list(enumerate(rows, 2)), sheet.remarks)


def _rows(
    path: str | Path,
    first: tuple[int, list[str]],
    lines: list[tuple[int, list[str]]],
    remarks: tuple[str, ...],
) -> Table:
    """The table of a numbered header and numbered rows."""
    number, header = first
    if not header:
        raise InputError(f"{path} is empty; expected a line of column names, then the rows")
    _check_header(path, number, header)
    if not lines:
        raise InputError(f"{path} has column names but no rows")
    rows = [row for _, row in lines]
    if {len(row) for row in rows} == {len(header) + 1}:
        # R leaves out the name of the row names; others end their rows with a delimiter.
        if all(row[-1] == "" for row in rows):
            rows = [row[:-1] for row in rows]
        else:
            header = ["", *header]
    faults = Faults()
    faults.found = [
        f"line {number}: expected {len(header)} values, got {len(row)}"
        for (number, _), row in zip(lines, rows, strict=True)
        if len(row) != len(header)
    ]
    faults.refuse(f"{path}, ")
    names, renamed = unique_names(header)
    columns = [list(values) for values in zip(*rows, strict=True)]
    return Table(dict(zip(names, columns, strict=True)), remarks + renamed)


def _lines(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line number, values) of every non-blank line."""
    first = text.lstrip().split("\n", 1)[0]
    delimiter = " " if by_spaces(text) else max(MARKS_BETWEEN, key=first.count)
    lines = (
        (line.strip(" ") for line in io.StringIO(text)) if delimiter == " " else io.StringIO(text)
    )
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, [value.strip() for value in row]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}") from error


def by_spaces(text: str) -> bool:
    """Whether spaces separate the columns: the first lines have as many words, and no mark."""
    lines = [line.strip() for line in text[:SAMPLE].splitlines() if line.strip()]
    lines = lines[: -1 if len(text) > SAMPLE else None][:SAMPLED]
    if not lines or any(mark in lines[0] for mark in MARKS_BETWEEN):
        return False
    rows = csv.reader(lines, delimiter=" ", skipinitialspace=True)
    words = {len(row) for row in rows}
    return len(lines) > 2 and len(words) == 1 and max(words) > 1


def _check_header(path: str | Path, line: int, header: list[str]) -> None:
    if not has_words(header):
        got = f"{', '.join(header[:NAMES])}{', …' * (len(header) > NAMES)}"
        raise InputError(f"{path}, line {line}: expected column names, got the numbers {got}")


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

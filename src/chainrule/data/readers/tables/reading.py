"""How the cells of a table are read: decided on the first file, kept for all later ones."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from chainrule.data.readers.tables.columns import Columns, Faults, read_table
from chainrule.data.readers.tables.numbers import (
    NumberFormat,
    PlainNumber,
    common_unit,
    decimals_of,
    has_words,
    is_missing,
    is_word,
    parse_numbers,
    symbols_in,
    units_after,
)
from chainrule.data.readers.tables.table_files import is_database
from chainrule.data.state import FLAG, OBJECT, TEXT, TEXTS, fields, optional
from chainrule.errors import InputError

MARKS = ".,"
UNCLEAR = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}")  # a decimal point, or a mark of thousands
MAJORITY = 0.8  # a column with this fraction of numbers, but words too, is taken for a mistake
EXAMPLES = 3  # cells in a message


@dataclass(frozen=True)
class Reading:
    """Rewrites the cells of a table as plain numbers like 1234.5, words and empty cells.

    formats: of the columns that do not write plain numbers.
    missing: further marks for a missing value.
    query: SQL, where the table is in a database.
    fold_case: whether words that differ in upper and lower case only are one word.
    """

    formats: Mapping[str, NumberFormat] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    query: str = ""
    fold_case: bool = True

    def read(self, source: Any) -> Columns:
        """The columns of a file, a DataFrame or a dictionary."""
        return self.plain(self.cells(source))

    def cells(self, source: Any) -> Columns:
        """The columns as they are written."""
        path = isinstance(source, str | Path)
        query = self.query if self.query and path and is_database(source) else ""
        return read_table(source, query).columns

    def plain(self, columns: Columns) -> Columns:
        """The same columns; a cell that is not in its column's format is refused."""
        return {name: self.plain_column(name, values) for name, values in columns.items()}

    def plain_column(self, name: str, values: list[str]) -> list[str]:
        """One of the columns."""
        written = self.formats.get(name)
        if self.missing:
            marks = {mark.strip().casefold() for mark in self.missing}
            values_of_marks = {float(m) for m in marks if not is_word(m) and not is_missing(m)}
            values = ["" if _is_mark(value, marks, values_of_marks) else value for value in values]
        if written is None:
            return values
        rest = {v for v in set(values) if not is_missing(v) and not isinstance(v, PlainNumber)}
        numbers = {value: written.number(value) for value in rest}
        wrong = [row for row, v in enumerate(values) if v in rest and numbers[v] is None]
        if wrong:
            more = f", and in {len(wrong) - 1:,} more rows" if len(wrong) > 1 else ""
            raise InputError(
                f"column {name!r}, row {wrong[0] + 1} below the header: expected a number like "
                f"{written.example()!r}, as in training, got {values[wrong[0]]!r}{more}"
            )
        plain = {value: PlainNumber(number) for value, number in numbers.items()}
        return [v if isinstance(v, PlainNumber) else plain.get(v, v) for v in values]

    @classmethod
    def from_json(cls, state: Any) -> "Reading":
        found = fields(
            state,
            "the reading of a table",
            formats=optional(OBJECT),
            missing=optional(TEXTS),
            query=optional(TEXT),
            fold_case=optional(FLAG),
        )
        formats = {k: NumberFormat.from_json(v) for k, v in found.get("formats", {}).items()}
        found["missing"] = tuple(found.get("missing", ()))
        return cls(**found | {"formats": formats})


PLAIN = Reading()


def _is_mark(value: str, marks: set[str], numbers: set[float]) -> bool:
    if value.casefold() in marks:
        return True
    if not numbers:
        return False
    x, words = parse_numbers([value])
    return not words and float(x[0]) in numbers


def decide(
    columns: Columns, decimal: str = "", missing: tuple[str, ...] = ()
) -> tuple[dict[str, NumberFormat], tuple[str, ...]]:
    """(formats, remarks): how columns write their numbers; all doubtful ones are refused at once.

    columns: of the whole table, as text.
    decimal: the decimal mark of all columns; empty finds it out.
    missing: further marks for a missing value.
    """
    if decimal not in ("", *MARKS):
        raise InputError(f"`decimal` must be '.' or ',', got {decimal!r}")
    written = Reading(missing=missing).plain(columns)
    worded = {name: values for name, values in written.items() if has_words(values)}
    units = {n: unit for n, values in worded.items() if (unit := common_unit(values, MAJORITY))}
    cleaned = written | {n: without_unit(written[n], unit) for n, unit in units.items()}
    faults = Faults()
    allowed: dict[str, frozenset[str]] = {}
    for name, values in cleaned.items():
        with faults:
            if name in units:
                check_unit(name, written[name], units[name])
            mixed = name in worded and has_words(values)
            marks = possible_decimals(name, values) if mixed else decimals_of_plain(values)
            if marks is not None:
                allowed[name] = marks
    known = {decimal} if decimal else {min(marks) for marks in allowed.values() if len(marks) == 1}
    formats: dict[str, NumberFormat] = {}
    remarks = [r for name, values in worded.items() if (r := mixed_units(name, values))]
    for name, marks in allowed.items():
        with faults:
            mark = chosen_decimal(name, cleaned[name], marks, known, forced=bool(decimal))
            if mark == "." and name not in worded:
                continue
            symbol = chosen_symbol(name, cleaned[name])
            formats[name] = NumberFormat(mark, symbol, units.get(name, ""))
            example = next((v for v in written[name] if is_formatted(v, formats[name])), None)
            if example is not None:
                value = formats[name].number(example)
                remarks.append(f"column {name!r}: {example!r} is read as {value:.15g}")
    faults.refuse()
    return formats, tuple(remarks)


def without_unit(values: list[str], unit: str) -> list[str]:
    """The numbers of a column that writes a unit after each."""
    return [value.removesuffix(unit).rstrip() for value in values]


def check_unit(name: str, values: list[str], unit: str) -> None:
    """Refuse words, and numbers without the unit, in a column of numbers with one."""
    rest = [
        row
        for row, value in enumerate(values)
        if not is_missing(value) and not (value.endswith(unit) and common_unit([value]))
    ]
    if rest:
        raise InputError(words_among_numbers(name, values, rest, f" with the unit {unit!r}"))


def mixed_units(name: str, values: list[str]) -> str:
    """The note on a column of numbers with several units, which is taken for words."""
    units, present = units_after(values)
    if len(units) < 2 or units.total() < MAJORITY * present - 1e-9:
        return ""
    shown = ", ".join(repr(unit) for unit, _ in units.most_common(EXAMPLES))
    return f"column {name!r} has numbers with different units ({shown}) and is read as words"


def possible_decimals(name: str, values: list[str]) -> frozenset[str] | None:
    """The decimal marks that a column's numbers allow; empty without any mark, None for words."""
    cells = {v for v in set(values) if not isinstance(v, PlainNumber) and not is_missing(v)}
    marks = {cell: decimals_of(cell) for cell in cells}
    strange = {cell for cell in cells if not marks[cell] and is_word(cell)}
    if strange:
        rows = [row for row, value in enumerate(values) if value in strange]
        present = sum(not is_missing(value) for value in values)
        if len(rows) > (1 - MAJORITY) * present + 1e-9:
            return None
        raise InputError(words_among_numbers(name, values, rows))
    marked = [cell for cell in cells if "." in cell or "," in cell]
    allowed = frozenset(MARKS).intersection(*(marks[cell] for cell in marked if marks[cell]))
    if not allowed:
        point, comma = (min(c for c in marked if marks[c] == {mark}) for mark in MARKS)
        raise InputError(
            f"column {name!r} writes {point!r} with a decimal point and {comma!r} with a decimal "
            "comma; write all its numbers alike"
        )
    return allowed if marked else frozenset()


def decimals_of_plain(values: list[str]) -> frozenset[str]:
    """The same for a column of plain numbers; 1.234 may be written with either mark."""
    marked = (
        value
        for value in values
        if "." in value and not isinstance(value, PlainNumber) and not is_missing(value)
    )
    first = next(marked, "")
    clear = any(not UNCLEAR.fullmatch(value) for value in chain([first], marked))
    return frozenset(("." if clear else MARKS) if first else "")


def words_among_numbers(name: str, values: list[str], rows: list[int], kind: str = "") -> str:
    """The message about words in a column of numbers."""
    shown = ", ".join(f"{values[row]!r} in row {row + 1}" for row in rows[:EXAMPLES])
    more = f" and {len(rows) - EXAMPLES} more" if len(rows) > EXAMPLES else ""
    return (
        f"column {name!r} holds numbers{kind}, but {shown}{more} below the header; correct the "
        "value, leave it empty if it is missing, or name it in `missing`"
    )


def chosen_decimal(
    name: str, values: list[str], allowed: frozenset[str], known: set[str], forced: bool
) -> str:
    """The decimal mark of a column: its own, else that of the user or of the other columns."""
    if not allowed:
        return "."
    if forced and not known <= allowed:
        (mark,) = known
        wrong = min(v for v in set(values) if not is_missing(v) and mark not in decimals_of(v))
        raise InputError(f"column {name!r}: {wrong!r} is not a number with `decimal` {mark!r}")
    if len(allowed) == 1:
        return min(allowed)
    if len(known) == 1:
        return min(known)
    if not known and not has_words(values):
        return "."
    unclear = min(value for value in set(values) if set(value) & set(MARKS))
    raise InputError(
        f"column {name!r}: the mark in {unclear!r} may be decimal or group thousands; say which "
        "mark is decimal with `decimal`, '.' or ','"
    )


def chosen_symbol(name: str, values: list[str]) -> str:
    """The currency or percent sign of a column."""
    symbols = symbols_in({value for value in set(values) if not is_missing(value)})
    if len(symbols - {""}) > 1 or ("%" in symbols and len(symbols) > 1):
        listed = ", ".join(repr(symbol) if symbol else "no sign" for symbol in sorted(symbols))
        raise InputError(f"column {name!r} mixes {listed}; write all its numbers alike")
    return max(symbols, default="")


def is_formatted(cell: str, written: NumberFormat) -> bool:
    """Whether a cell is a number, but not a plain one."""
    if is_missing(cell) or isinstance(cell, PlainNumber):
        return False
    x, words = parse_numbers([cell])
    return bool(words) or written.number(cell) != float(x[0])


def one_spelling(name: str, values: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """(values, remarks): words that differ in case only, all in their most frequent spelling."""
    if not has_words(values):
        return values, ()
    counts = {word: n for word, n in Counter(values).items() if not is_missing(word)}
    groups: dict[str, list[str]] = {}
    for word in sorted(counts, key=lambda word: (-counts[word], word)):
        groups.setdefault(word.casefold(), []).append(word)
    several = [words for words in groups.values() if len(words) > 1]
    if not several:
        return values, ()
    spelled = {word: words[0] for words in several for word in words}
    shown = "; ".join(" = ".join(map(repr, words)) for words in several[:EXAMPLES])
    more = f" and {len(several) - EXAMPLES} more" if len(several) > EXAMPLES else ""
    return [spelled.get(v, v) for v in values], (f"column {name!r}: {shown}{more}",)

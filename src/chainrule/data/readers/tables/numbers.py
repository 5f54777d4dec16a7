"""Numbers as people write them: 1.234,5   1,234.5   1'234   $5   (12.50)   7 %   80 kg.

Cells that can be read in one way only decide how their column is read; a column such as 1,234 that
leaves it open follows the other columns of its table, or is refused.
"""

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.data.state import TEXT, fields, one_of, optional

USUAL = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "<na>", "nat"})
MARKS = frozenset({"-", "--", ".", "n.a.", "#n/a", "#na", "(null)", "\\n", "#value!", "#div/0!"})
MISSING = USUAL | MARKS  # MARKS are named in a note
MAX_FORMATTED = 64  # characters of a cell that may be a formatted number or a date
CURRENCY = r"[$€£¥]|USD|EUR|GBP|CHF|JPY"
WRITTEN = re.compile(
    rf"(?P<sign>[-+−(]?)\s*(?P<before>{CURRENCY})?\s*(?P<inner>[-+−]?)"
    rf"(?P<digits>[\d.,](?:[\d.,'’\s]*[\d.,])?)\s*(?P<after>{CURRENCY}|%)?(?P<close>\)?)"
)
DIGITS = {
    decimal: re.compile(
        rf"[1-9]\d{{0,2}}([{other}'’ \u00a0\u202f])\d{{3}}(?:\1\d{{3}})*(?:[{decimal}]\d+)?"
        rf"|\d+(?:[{decimal}]\d*)?|[{decimal}]\d+"
    )
    for decimal, other in ((".", ","), (",", "."))
}
UNIT = re.compile(r"[-+−]?[\d.,'’\s]*\d\s*(?P<unit>(?!%)[^\W\d_][^\d\s_]{0,9})")
EXPONENT = re.compile(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)e[-+]?\d{1,3}", re.IGNORECASE)


class PlainNumber(str):
    """The text of what was a number before: its mark is a decimal point, whatever the table."""

    __slots__ = ()


@dataclass(frozen=True)
class NumberFormat:
    """How a column writes its numbers.

    decimal: the decimal mark; the other one, spaces and apostrophes group thousands.
    symbol: the currency or percent sign, which is left out.
    unit: the word after each number, such as kg, which is left out.
    """

    decimal: str = "."
    symbol: str = ""
    unit: str = ""

    def number(self, cell: str) -> float | None:
        """The number in a cell; None if it is not one in this format."""
        if isinstance(cell, PlainNumber):
            return _float(cell)
        if len(cell) > MAX_FORMATTED or not cell.endswith(self.unit):
            return None
        cell = cell.removesuffix(self.unit).rstrip()
        if EXPONENT.fullmatch(cell):
            return _float(cell.replace(self.decimal, "."))
        found = WRITTEN.fullmatch(cell)
        if not found or not DIGITS[self.decimal].fullmatch(found["digits"]):
            return None
        signs = found["sign"] + found["inner"]
        symbol = symbol_of(found)
        if len(signs) > 1 or ("(" in signs) != bool(found["close"]):
            return None
        if symbol is None or (symbol != self.symbol and "%" in symbol + self.symbol):
            return None
        digits = re.sub(rf"[^\d{self.decimal}]", "", found["digits"]).replace(self.decimal, ".")
        value = _float(digits)
        return -value if value is not None and signs and signs in "-−(" else value

    def example(self) -> str:
        """A number in this format."""
        after = f" {self.unit}" if self.unit else " %" if self.symbol == "%" else self.symbol
        return f"1234{self.decimal}5{after}"

    @classmethod
    def from_json(cls, state: Any) -> "NumberFormat":
        kinds = {"decimal": one_of(".", ","), "symbol": TEXT, "unit": optional(TEXT)}
        return cls(**fields(state, "the format of a column", **kinds))


def symbol_of(found: re.Match[str]) -> str | None:
    """The currency or percent sign of a cell; None for two of them."""
    before, after = found["before"] or "", found["after"] or ""
    return None if before and after else before + after


def units_after(values: list[str]) -> tuple[Counter[str], int]:
    """(cells by the word that follows their number, such as kg; cells that are not missing)."""
    units: Counter[str] = Counter()
    present = {value: n for value, n in Counter(values).items() if not is_missing(value)}
    for value, number in present.items():
        if len(value) > MAX_FORMATTED or value[-1].isdecimal():
            continue
        found = UNIT.fullmatch(value)
        if found and not EXPONENT.fullmatch(value):
            units[found["unit"]] += number
    return units, sum(present.values())


def common_unit(values: list[str], least: float = 1.0) -> str:
    """The one word that follows the numbers, such as kg; empty if there is none.

    values: the cells of a column.
    least: the share of the cells that must have it; the others are words among the numbers.
    """
    units, present = units_after(values)
    if len(units) != 1:
        return ""
    ((unit, number),) = units.items()
    enough = number >= least * present - 1e-9
    return unit if enough and not re.fullmatch(CURRENCY, unit) else ""


def decimals_of(cell: str) -> frozenset[str]:
    """The decimal marks with which a cell is a number: one, both or none."""
    return frozenset(mark for mark in ".," if _any_symbol(cell, mark) is not None)


def symbols_in(cells: set[str]) -> set[str]:
    """The currency and percent signs of these cells; "" for a cell without."""
    plain = [cell for cell in cells if len(cell) > MAX_FORMATTED or isinstance(cell, PlainNumber)]
    found = [WRITTEN.fullmatch(cell) for cell in set(cells) - set(plain)]
    return {symbol_of(match) or "" for match in found if match}


def is_missing(value: str) -> bool:
    return value.casefold() in MISSING


def parse_numbers(values: list[str]) -> tuple[np.ndarray, list[int]]:
    """(x, words): one float64 per value, NaN where it is no number, and the rows of words."""
    try:
        x = np.fromiter(map(float, values), np.float64, len(values))
        if "_" not in "".join(values):  # float("1_000") is 1000.0, but in a table it is a code
            return x, []
    except ValueError:
        pass
    x = np.full(len(values), np.nan)
    words = []
    for row, value in enumerate(values):
        if not value:
            continue
        try:
            x[row] = float(value.replace("_", "code"))
        except ValueError:
            if value.casefold() not in MISSING:
                words.append(row)
    return x, words


def has_words(values: list[str]) -> bool:
    """Whether a cell is neither a number nor missing; it ends at the first word."""
    try:
        deque(map(float, values), maxlen=0)
        if "_" not in "".join(values):
            return False
    except ValueError:
        pass
    return any(is_word(value) for value in values if value)


def is_word(value: str) -> bool:
    try:
        float(value.replace("_", "code"))
    except ValueError:
        return not is_missing(value)
    return False


def _any_symbol(cell: str, decimal: str) -> float | None:
    percent = "%" if cell.endswith("%") else ""
    return NumberFormat(decimal, percent).number(cell)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None

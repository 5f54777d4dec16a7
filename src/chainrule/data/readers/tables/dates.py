"""Dates and times of day as people write them.

2024-03-01   2024-03-01 14:30   2024/3/1   1.3.2024   31/03/2024   3 Mar 2024   March 3, 2024
2024-03   20240301   2024-03-01T14:30:00+02:00   1/3/2024 2:30 pm   14:30
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date

from chainrule.data.readers.tables.numbers import MAX_FORMATTED
from chainrule.errors import InputError

DAY = 86_400
EPOCH = date(1970, 1, 1).toordinal()
ORDERS = ("auto", "day-first", "month-first")
MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = rf"(?P<name>{'|'.join(MONTH_NAMES)})[a-z]*\.?"
HOUR = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?(?:\s?(?P<half>[ap]m))?"
)
CLOCK = rf"(?:(?:T|,?\s+){HOUR}\s?(?P<zone>Z|[-+]\d{{2}}:?\d{{2}})?)?"
YEAR_FIRST = r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
YEAR_MONTH = r"(?P<year>\d{4})[-/](?P<month>\d{1,2})(?P<day>)"  # 2024.03 is a number
YEAR_LAST = r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})"
DAY_NAME = rf"(?P<day>\d{{1,2}})[- .]+{MONTH}[-, ]+(?P<year>\d{{4}}|\d{{2}})"
NAME_DAY = rf"{MONTH}[- ]+(?P<day>\d{{1,2}}),?[- ]+(?P<year>\d{{4}})"
FORMS = [
    re.compile(form + CLOCK, re.IGNORECASE)
    for form in (YEAR_FIRST, YEAR_MONTH, YEAR_LAST, DAY_NAME, NAME_DAY)
]
TIME_OF_DAY = re.compile(HOUR, re.IGNORECASE)
COMPACT = re.compile(r"(?:19|20)\d{6}")


def matched(cell: str) -> re.Match[str] | None:
    """The parts of a cell that looks like a date; a long one is text."""
    if len(cell) > MAX_FORMATTED:
        return None
    return next((found for form in FORMS if (found := form.fullmatch(cell))), None)


def is_clock(cell: str) -> bool:
    """Whether a cell looks like a time of day without a date."""
    return len(cell) <= MAX_FORMATTED and bool(TIME_OF_DAY.fullmatch(cell))


def place(name: str, row: int) -> str:
    return f"column {name!r}, row {row + 1} below the header"


def is_day_first(name: str, values: Iterable[str], order: str = "auto") -> bool:
    """Whether dates with the year at the end begin with the day; doubtful ones are refused.

    name: of the column, for messages.
    values: its cells.
    order: "day-first" or "month-first" where the user says it.
    """
    if order not in ORDERS:
        raise InputError(f"`date_order` must be {', '.join(ORDERS)}, got {order!r}")
    if order != "auto":
        return order == "day-first"
    parts = [m for value in set(values) if (m := matched(value)) and "first" in m.groupdict()]
    first, second = (max((int(m[k]) for m in parts), default=0) for k in ("first", "second_"))
    marks = {m["mark"] for m in parts}
    if not parts or first > 12 or (second <= 12 and marks == {"."}):
        return True
    if second <= 12:
        raise InputError(
            f"column {name!r}: {min(m[0] for m in parts)!r} may be read with the day or the month "
            "first; write dates as YYYY-MM-DD, or set `date_order`"
        )
    return False


def seconds(where: str, value: str, day_first: bool) -> int:
    """Seconds since 1970 of one cell; its place is for messages."""
    found = matched(value)
    if found is None:
        raise InputError(
            f"{where}: expected a date like 2024-03-01 or 2024-03-01 14:30, got {value!r}"
        )
    parts = found.groupdict()
    year = int(parts["year"])
    if len(parts["year"]) == 2:
        year += 2000 if year < 70 else 1900
    if "name" in parts:
        month, day = MONTH_NAMES.index(parts["name"].lower()) + 1, int(parts["day"])
    elif "first" in parts:
        both = int(parts["first"]), int(parts["second_"])
        day, month = both if day_first else both[::-1]
    else:
        month, day = int(parts["month"]), int(parts["day"] or 1)
    try:
        days = date(year, month, day).toordinal() - EPOCH
    except ValueError as error:
        raise InputError(f"{where}: {value!r} is not a date: {error}") from None
    return days * DAY + (clock(where, value, found) if parts["hour"] else 0)


def clock(where: str, value: str, found: re.Match[str]) -> int:
    """Seconds since midnight, in the time zone of Greenwich where a zone is written."""
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    if found["half"] and 1 <= hour <= 12:
        hour = hour % 12 + 12 * (found["half"].lower() == "pm")
    elif found["half"]:
        hour = 24
    if hour > 23 or minute > 59 or second > 59:
        raise InputError(f"{where}: {value!r} is not a time of day")
    zone = found.groupdict().get("zone") or "Z"
    east = 0 if zone in "Zz" else int(zone[:3]) * 3600 + int(zone[0] + zone[-2:]) * 60
    return hour * 3600 + minute * 60 + second - east


def seconds_of_day(where: str, value: str) -> int:
    """Seconds since midnight of a cell such as 14:30 or 2:30 pm."""
    found = TIME_OF_DAY.fullmatch(value) if len(value) <= MAX_FORMATTED else None
    if found is None:
        raise InputError(f"{where}: expected a time of day like 14:30, got {value!r}")
    return clock(where, value, found)


def column_seconds(name: str, values: Sequence[str], order: str = "auto") -> list[int]:
    """Seconds since 1970 of every cell of a column."""
    first, known = is_day_first(name, values, order), dict[str, int]()
    for row, value in enumerate(values):
        if value not in known:
            known[value] = seconds(place(name, row), value, first)
    return [known[value] for value in values]

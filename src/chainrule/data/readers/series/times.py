"""Times of a series: dates read from text, and the regular grid that they stand on.

    2024-03-01   2024-03-01 14:30   2024/3/1   1.3.2024   31/03/2024   2024-03   20240301   17

Steps are inferred: the largest step that every time is a multiple of, weekdays where no weekend
occurs, months where all times are on one day of the month. Times that leave most of such a grid
empty are refused; with a given step, each time belongs to the step that it falls in.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from chainrule.data.readers.tables.dates import COMPACT, DAY, column_seconds, place
from chainrule.data.readers.tables.numbers import is_missing, parse_numbers
from chainrule.data.state import fields, one_of, whole
from chainrule.errors import InputError

UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": DAY, "week": 7 * DAY}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
STEP = re.compile(r"(\d{1,6})?\s*([a-z]+?)s?")
LARGEST = 2**52  # of whole numbers that count steps
LEAST_FILLED = 0.5  # share of the inferred grid that has rows
WEEKEND_FREE = 15  # days without a weekend, from which weekdays are the grid
KINDS = ("seconds", "weekdays", "months", "numbers")


@dataclass(frozen=True)
class TimeGrid:
    """Equal steps of time, numbered from a first one.

    kind: what is counted: seconds, weekdays, months, or plain numbers.
    step: how many of them a step has.
    origin: step 0, counted since 1970-01-01.
    day: day of the month of a grid of months; 31 is the last of the month.
    """

    kind: str
    step: int
    origin: int
    day: int = 1

    def count(self, times: np.ndarray) -> np.ndarray:
        """Times in the unit of the grid, rounded down."""
        if self.kind == "weekdays":
            return np.busday_count(
                np.datetime64("1970-01-01"), times.astype("datetime64[s]").astype("datetime64[D]")
            )
        if self.kind == "months":
            return times.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
        return times

    def index(self, times: np.ndarray) -> np.ndarray:
        """The number of the step that each time falls in."""
        return (self.count(times) - self.origin) // self.step

    def check(self, name: str, times: np.ndarray) -> None:
        """Refuse a time between two steps."""
        off = np.flatnonzero(self.times(self.index(times)) != times)
        if len(off) and self.kind != "months":
            raise InputError(
                f"{place(name, int(off[0]))}: expected a time on the grid of training, {self} "
                f"that include {self.names(np.array([0]))[0]}"
            )

    def times(self, index: np.ndarray) -> np.ndarray:
        """The times of steps, in seconds since 1970 or as plain numbers."""
        counted = self.origin + np.asarray(index, np.int64) * self.step
        if self.kind == "weekdays":
            days = np.busday_offset(np.datetime64("1970-01-01"), counted)
            return days.astype("datetime64[s]").astype(np.int64)
        if self.kind == "months":
            months = counted.astype("datetime64[M]")
            last = (months + 1).astype("datetime64[D]") - 1
            days = np.minimum(months.astype("datetime64[D]") + (self.day - 1), last)
            return days.astype("datetime64[s]").astype(np.int64)
        return counted

    def names(self, index: np.ndarray) -> list[str]:
        """The times of steps as text."""
        times = self.times(index)
        if self.kind == "numbers":
            return [str(number) for number in times.tolist()]
        plain = self.kind != "seconds"
        parts = {"D": DAY, "m": 60, "s": 1}
        form = next(
            f for f in parts if plain or not (self.step % parts[f] or self.origin % parts[f])
        )
        shown = times.astype("datetime64[s]").astype(f"datetime64[{form}]").astype(str)
        return [name.replace("T", " ") for name in shown.tolist()]

    @property
    def season(self) -> int:
        """Steps of the usual period: a day, a week or a year; 1 where there is none."""
        periods = {"weekdays": (5,), "months": (12,), "seconds": (DAY, 7 * DAY, 364 * DAY)}
        for period in periods.get(self.kind, ()):
            if period % self.step == 0 and period > self.step:
                return period // self.step
        return 1

    def calendar(self, index: np.ndarray) -> np.ndarray:
        """(steps, 2 parts): sine and cosine of the hour, the weekday and the day of the year."""
        if self.kind == "numbers":
            return np.empty((len(index), 0), np.float32)
        seconds = self.times(index)
        stamps = seconds.astype("datetime64[s]")
        year = stamps.astype("datetime64[Y]")
        turns = []
        if self.kind == "seconds" and self.step < DAY:
            turns.append(seconds % DAY / DAY)
        if self.kind == "weekdays" or (self.kind == "seconds" and self.step < 7 * DAY):
            turns.append((seconds // DAY + 3) % 7 / 7)
        if self.kind != "months" or self.step % 12:
            passed = (stamps.astype("datetime64[D]") - year.astype("datetime64[D]")).astype(int)
            turns.append(passed / 365.25)
        angles = 2 * np.pi * np.stack(turns, 1) if turns else np.empty((len(index), 0))
        return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)

    def __str__(self) -> str:
        if self.kind == "numbers":
            return f"steps of {self.step:,}"
        if self.kind == "weekdays":
            return "weekdays"
        units = MONTHS if self.kind == "months" else UNITS
        unit = max((u for u in units if self.step % units[u] == 0), key=lambda u: units[u])
        number = self.step // units[unit]
        return f"steps of {number:,} {unit}{'s' * (number > 1)}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, state: Any) -> "TimeGrid":
        return cls(
            **fields(
                state,
                "the time grid",
                kind=one_of(*KINDS),
                step=whole(1, LARGEST),
                origin=whole(-LARGEST, LARGEST),
                day=whole(1, 31),
            )
        )


def parse_times(name: str, values: Sequence[str], order: str = "auto") -> tuple[np.ndarray, bool]:
    """(times, dates): seconds since 1970 of a column of dates, or its plain whole numbers.

    name: of the column, for messages.
    values: its cells.
    order: "day-first" or "month-first" where dates leave it open.
    """
    for row, value in enumerate(values):
        if is_missing(value):
            raise InputError(f"{place(name, row)}: expected a time, got nothing; drop the row")
    if all(COMPACT.fullmatch(value) for value in values):
        values = [f"{value[:4]}-{value[4:6]}-{value[6:]}" for value in values]
    numbers, words = parse_numbers(list(values))
    if not words:
        if not ((np.abs(numbers) < LARGEST) & (numbers % 1 == 0)).all():
            raise InputError(f"column {name!r}: expected dates or whole numbers as times")
        return numbers.astype(np.int64), False
    return np.array(column_seconds(name, values, order)), True


def infer_grid(name: str, times: np.ndarray, dates: bool) -> TimeGrid:
    """The grid of all times of a column.

    name: of the column, for messages.
    times: as `parse_times` returns them.
    dates: whether they are seconds.
    """
    different = np.unique(times)
    if len(different) < 2:
        raise InputError(f"column {name!r}: expected different times, got one")
    grid = _monthly(different) if dates else None
    if grid is None:
        step = int(np.gcd.reduce(np.diff(different)))
        grid = TimeGrid("seconds" if dates else "numbers", step, int(different[0]))
        if dates and step == DAY and _no_weekend(different):
            grid = _from_first("weekdays", 1, different)
    size = int(grid.index(different[-1:])[0]) + 1
    if len(different) < LEAST_FILLED * size:
        raise InputError(
            f"column {name!r} has no regular step: {grid} would leave {size - len(different):,} of "
            f"{size:,} empty; set `step`, such as {_usual_step(different, dates)!r}"
        )
    return grid


def given_grid(step: str, times: np.ndarray, dates: bool) -> TimeGrid:
    """The grid of a step in words, such as day, 15 minutes, weekday, month.

    step: a number, where it is not 1, and a unit.
    times: of all rows.
    dates: whether they are seconds since 1970.
    """
    match = STEP.fullmatch(step.strip().lower())
    number, unit = (int(match[1] or 1), match[2]) if match else (0, "")
    known = [*UNITS, "weekday", *MONTHS] if dates else ["number"]
    plain = not dates and step.strip().isdecimal() and len(step.strip()) < 16
    if plain:
        number, unit = int(step), "number"
    if number < 1 or unit not in known or (unit == "weekday" and number > 1):
        wanted = "a unit such as day, weekday, 15 minutes or month" if dates else "a whole number"
        raise InputError(f"`step` must be {wanted}, got {step!r}")
    if unit in MONTHS:
        return _from_first("months", number * MONTHS[unit], times)
    if unit == "weekday":
        return _from_first("weekdays", 1, times)
    if unit == "number":
        return TimeGrid("numbers", number, int(times.min()))
    length, start = number * UNITS[unit], int(times.min())
    monday = 3 * DAY if unit == "week" else 0  # 1970-01-01 was a Thursday
    return TimeGrid("seconds", length, start - (start + monday) % length)


def _from_first(kind: str, step: int, times: np.ndarray, day: int = 1) -> TimeGrid:
    counted = TimeGrid(kind, step, 0, day).count(np.array([times.min()]))
    return TimeGrid(kind, step, int(counted[0]), day)


def _no_weekend(times: np.ndarray) -> bool:
    return len(times) >= WEEKEND_FREE and bool(((times // DAY + 3) % 7 < 5).all())


def _monthly(times: np.ndarray) -> TimeGrid | None:
    """A grid of months, if all times are midnights of one day of the month, or of the last."""
    if (times % DAY).any() or np.diff(times).min() < 28 * DAY:
        return None
    stamps = times.astype("datetime64[s]").astype("datetime64[D]")
    months = stamps.astype("datetime64[M]")
    days = (stamps - months.astype("datetime64[D]")).astype(int) + 1
    last = ((months + 1).astype("datetime64[D]") - months.astype("datetime64[D]")).astype(int)
    day = 31 if (days == last).all() else int(days.max())
    if not (days == np.minimum(day, last)).all():
        return None
    return _from_first("months", int(np.gcd.reduce(np.diff(months.astype(int)))), times, day)


def _usual_step(times: np.ndarray, dates: bool) -> str:
    """The unit nearest to the usual distance of two rows."""
    usual = float(np.median(np.diff(times)))
    if not dates:
        return str(max(1, round(usual)))
    units = UNITS | {"month": timedelta(days=30).days * DAY, "year": 365 * DAY}
    return min(units, key=lambda unit: abs(np.log(units[unit] / usual)))

"""A column of dates or times of day as numbers: its course, and where it stands in each cycle.

(t - mean) / std              t: days since 1970
sin 2πu, cos 2πu              u: share of the day, of the week, of the year that has passed
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from chainrule.data.readers.tables.dates import (
    COMPACT,
    DAY,
    is_clock,
    is_day_first,
    matched,
    place,
    seconds,
    seconds_of_day,
)
from chainrule.data.readers.tables.numbers import has_words, is_missing
from chainrule.data.state import FLAG, NUMBER, POSITIVE, TEXT, TEXTS, fields
from chainrule.errors import InputError

PARTS = ("day", "week", "year")
MAJORITY = 0.8  # a column with this fraction of dates, but other words too, is taken for a mistake


@dataclass(frozen=True)
class DateColumn:
    """Standardized days, sine and cosine of each cycle, and 1 where the date is missing.

    name: the column.
    parts: the cycles: "day", "week", "year".
    mean, std: of the days since 1970 of the training rows.
    median: stands in for a missing date.
    missing: whether dates were missing in training; only then is that a feature.
    day_first: how dates such as 1/3/2024 are read.
    time_of_day: whether the cells hold no dates but times of day, which have a cycle only.
    """

    kind: ClassVar[str] = "date"
    name: str
    parts: tuple[str, ...]
    mean: float
    std: float
    median: float
    missing: bool = False
    day_first: bool = True
    time_of_day: bool = False

    @classmethod
    def fit(
        cls, name: str, values: list[str], rows: Sequence[int], form: "DateForm"
    ) -> "DateColumn | None":
        """The encoding by the training rows; None if these are all the same.

        values: all cells; one that is no date is refused.
        rows: the training rows.
        form: what the cells are.
        """
        blank = cls(name, (), 0.0, 1.0, 0.0, False, form.day_first, form.time_of_day)
        return blank.fitted(blank.days(values)[list(rows)])

    def fitted(self, t: np.ndarray) -> "DateColumn | None":
        """The encoding by the days since 1970 of training rows; None if these are all the same."""
        absent = np.isnan(t)
        if absent.all() or (np.nanmin(t) == np.nanmax(t) and not absent.any()):
            return None
        median = float(np.nanmedian(t))
        filled = np.where(absent, median, t)
        return replace(
            self,
            parts=cycles(t, self.time_of_day),
            mean=float(filled.mean()),
            std=float(filled.std()) or 1.0,
            median=median,
            missing=bool(absent.any()),
        )

    @property
    def features(self) -> tuple[str, ...]:
        course = () if self.time_of_day else (self.name,)
        turns = tuple(f"{self.name} {part} {f}" for part in self.parts for f in ("sin", "cos"))
        return course + turns + ((f"{self.name} missing",) if self.missing else ())

    def days(self, values: list[str]) -> np.ndarray:
        """Days since 1970, or shares of a day; NaN where there is none."""
        known: dict[str, float] = {}
        for row, value in enumerate(values):
            if value not in known:
                known[value] = self.day(value, place(self.name, row))
        return np.fromiter(map(known.__getitem__, values), np.float64, len(values))

    def day(self, value: str, where: str) -> float:
        """That of one cell; its place is for messages."""
        if is_missing(value):
            return math.nan
        if self.time_of_day:
            return seconds_of_day(where, value) / DAY
        return seconds(where, dashed(value), self.day_first) / DAY

    def encode(self, values: list[str]) -> np.ndarray:
        return self.encode_days(self.days(values))

    def encode_days(self, t: np.ndarray) -> np.ndarray:
        """The features of these days since 1970; NaN is missing."""
        absent = np.isnan(t)
        filled = np.where(absent, self.median, t)
        columns = [] if self.time_of_day else [(filled - self.mean) / self.std]
        for part in self.parts:
            angle = 2 * np.pi * share_passed(filled, part)
            columns += [np.where(absent, 0, np.sin(angle)), np.where(absent, 0, np.cos(angle))]
        return np.stack([*columns, absent] if self.missing else columns, axis=1)

    def described(self) -> str:
        """How the column is read, for a note."""
        kind = "times of day" if self.time_of_day else "dates"
        return f"column {self.name!r} is read as {kind}: {', '.join(self.features)}"

    def sample(self) -> str:
        """A usual value."""
        return self.written(self.median)

    def written(self, t: float) -> str:
        """A date, with the time of day where that matters; or a time of day."""
        whole = np.datetime64(round(t * DAY), "s")
        text = str(whole.astype("datetime64[m]")).replace("T", " ")
        if self.time_of_day:
            return text[11:]
        return text if "day" in self.parts else text[:10]

    @classmethod
    def from_json(cls, state: Any) -> "DateColumn":
        numbers = {"mean": NUMBER, "std": POSITIVE, "median": NUMBER}
        flags = dict.fromkeys(("missing", "day_first", "time_of_day"), FLAG)
        found = fields(state, "a column", name=TEXT, parts=TEXTS, **numbers, **flags)
        if set(found["parts"]) - set(PARTS):
            raise InputError(f"expected the parts {', '.join(PARTS)}, got {found['parts']!r}")
        return cls(**found | {"parts": tuple(found["parts"])})


def dashed(value: str) -> str:
    """20240301 as 2024-03-01."""
    return f"{value[:4]}-{value[4:6]}-{value[6:]}" if COMPACT.fullmatch(value) else value


def cycles(t: np.ndarray, time_of_day: bool) -> tuple[str, ...]:
    """The cycles in which these days differ."""
    if time_of_day:
        return ("day",)
    t = t[~np.isnan(t)]
    return tuple(part for part in PARTS if np.ptp(share_passed(t, part)) > 0)


def share_passed(t: np.ndarray, part: str) -> np.ndarray:
    """The share of the day, the week from Monday on, or the year that has passed at t."""
    if part == "day":
        return t % 1
    if part == "week":
        return (np.floor(t) + 3) % 7 / 7  # 1970-01-01 was a Thursday
    days = np.floor(t).astype(np.int64).astype("datetime64[D]")
    first = days.astype("datetime64[Y]").astype("datetime64[D]")
    return (days - first).astype(np.int64) / 366


class DateForm(NamedTuple):
    """What the cells of a column of dates are."""

    day_first: bool
    time_of_day: bool


def date_form(name: str, values: list[str], order: str) -> DateForm | None:
    """How a column of dates is read; None if it holds something else."""
    if not has_words(values):
        return DateForm(True, False) if are_compact(values) else None
    tally = {word: n for word, n in Counter(values).items() if not is_missing(word)}
    dates, clocks = (sum(n for word, n in tally.items() if f(word)) for f in (matched, is_clock))
    if max(dates, clocks) < MAJORITY * sum(tally.values()):
        return None
    return DateForm(is_day_first(name, tally, order), clocks > dates)


def are_compact(numbers: list[str]) -> bool:
    """Whether numbers are days such as 20240301."""
    first = next((value for value in numbers if not is_missing(value)), "")
    if not COMPACT.fullmatch(first):
        return False
    present = [value for value in set(numbers) if not is_missing(value)]
    return all(COMPACT.fullmatch(value) and is_date(dashed(value)) for value in present)


def is_date(text: str) -> bool:
    """Whether there is such a day."""
    try:
        seconds("", text, day_first=True)
    except InputError:
        return False
    return True

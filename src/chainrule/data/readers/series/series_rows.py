"""Rows of a table of series: times, values and covariates, placed on a grid of times."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from chainrule.data.readers.series.times import TimeGrid, parse_times
from chainrule.data.readers.tables.column_kinds import numeric_column
from chainrule.data.readers.tables.columns import Columns, Faults
from chainrule.data.readers.tables.numbers import NumberFormat
from chainrule.data.readers.tables.reading import Reading, decide
from chainrule.errors import InputError
from chainrule.registry import unknown

MAX_STEPS = 50_000_000  # of all series on their grid
NAMED = 3  # gaps and series in a remark


class History(NamedTuple):
    """One series on the grid.

    name: of its group; empty where the table has no groups.
    start: index of its first step on the grid.
    values: one number per step, NaN where there is none; the first and the last are numbers.
    covariates: (steps, covariates), NaN where there is none.
    """

    name: str
    start: int
    values: np.ndarray
    covariates: np.ndarray

    @property
    def end(self) -> int:
        """Index of the step after the last."""
        return self.start + len(self.values)


class NamedColumns(NamedTuple):
    """The columns of a table of series, and how its dates and numbers are read."""

    time: str
    target: str
    group: str = ""
    covariates: tuple[str, ...] = ()
    date_order: str = "auto"
    formats: Mapping[str, NumberFormat] | None = None

    def plain(self, columns: Columns) -> Columns:
        """The columns with plain numbers, in the formats of training where there were any."""
        return columns if self.formats is None else Reading(self.formats).plain(columns)

    def number_formats(self, columns: Columns, decimal: str = "") -> dict[str, NumberFormat]:
        """How the target and the covariates write their numbers."""
        names = (self.target, *self.covariates)
        numbers = {name: columns[name] for name in names if name in columns}
        return decide(numbers, decimal)[0]


class Rows(NamedTuple):
    """The columns of a table of series, as numbers."""

    time: str
    times: np.ndarray
    dates: bool
    values: np.ndarray
    names: list[str]
    covariates: np.ndarray


def read_rows(columns: Columns, named: NamedColumns) -> Rows:
    """Times, values, series and covariates of each row."""
    time, target, group, covariates, order, _ = named
    columns = named.plain(columns)
    for name in (time, target, *([group] if group else []), *covariates):
        if name not in columns:
            raise InputError(unknown("column", name, list(columns)))
    if len({time, target, group, *covariates}) < 3 + len(covariates):
        raise InputError(
            "expected different columns as `time`, `target`, `group` and `covariates`, "
            f"got {time}, {target}, {group or 'none'} and {', '.join(covariates) or 'none'}"
        )
    faults = Faults()
    times, dates, values, others = np.empty(0), False, np.empty(0), []
    with faults:
        times, dates = parse_times(time, columns[time], order)
    with faults:
        values = numeric_column(target, columns[target])
        if np.isnan(values).all():
            raise InputError(f"column {target!r}: expected numbers, got none")
    for name in covariates:
        with faults:
            others.append(numeric_column(name, columns[name]))
    faults.refuse()
    names = columns[group] if group else [""] * len(values)
    return Rows(time, times, dates, values, names, np.array(others).reshape(-1, len(values)).T)


def on_grid(rows: Rows, grid: TimeGrid, averaged: bool) -> tuple[list[History], tuple[str, ...]]:
    """(series, remarks): every series on the grid, from its first number to its last.

    averaged: whether rows of one step are averaged; else they are refused.
    """
    if not averaged:
        grid.check(rows.time, rows.times)
    names = sorted(set(rows.names))
    places = {name: number for number, name in enumerate(names)}
    numbers = np.fromiter(map(places.__getitem__, rows.names), np.int64, len(rows.names))
    index = grid.index(rows.times)
    every, by_series = index, np.argsort(numbers, kind="stable")
    firsts = np.searchsorted(numbers[by_series], np.arange(len(names) + 1))
    kept = ~np.isnan(rows.values)
    numbers, index, values = numbers[kept], index[kept], rows.values[kept]
    order = np.lexsort((index, numbers))
    numbers, index, values = numbers[order], index[order], values[order]
    same = (np.diff(index) == 0) & (np.diff(numbers) == 0)
    if not averaged and same.any():
        row = int(np.flatnonzero(same)[0])
        where = f" of {names[numbers[row]]!r}" if names[numbers[row]] else ""
        raise InputError(
            f"column {rows.time!r}: {grid.names(index[row : row + 1])[0]}{where} occurs twice; "
            "name the column that tells series apart as `group`, or set `step` to average"
        )
    found, gaps = [], []
    for number in np.unique(numbers).tolist():
        own = slice(*np.searchsorted(numbers, (number, number + 1)))
        start, series = placed(index[own], values[own])
        mine = by_series[firsts[number] : firsts[number + 1]]
        others = [covariate(every[mine], c[mine], start, len(series)) for c in rows.covariates.T]
        beside = np.array(others).reshape(-1, len(series)).T
        history = History(str(names[number]), start, series, beside)
        found.append(history)
        empty = history.start + np.flatnonzero(np.isnan(history.values))
        if len(empty):
            gaps.append((history.name, len(empty), grid.names(empty[:NAMED]), len(history.values)))
    return found, gap_remarks(gaps) + averaged_remarks(int(same.sum()))


def placed(index: np.ndarray, values: np.ndarray) -> tuple[int, np.ndarray]:
    """(start, values): a series on the grid; several values of a step are averaged."""
    start, size = int(index[0]), int(index[-1] - index[0]) + 1
    if size > MAX_STEPS:
        raise InputError(f"expected at most {MAX_STEPS:,} steps of a series, got {size:,}")
    return start, means_by_step(index - start, values, size)


def covariate(index: np.ndarray, values: np.ndarray, start: int, size: int) -> np.ndarray:
    """A covariate at the steps of its series."""
    inside = (index >= start) & (index < start + size) & ~np.isnan(values)
    return means_by_step(index[inside] - start, values[inside], size)


def means_by_step(index: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """The mean of the values of each step; NaN where there is none."""
    count = np.bincount(index, minlength=size)
    total = np.bincount(index, values, minlength=size)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def gap_remarks(gaps: list[tuple[str, int, list[str], int]]) -> tuple[str, ...]:
    """What was missing, series by series."""
    said = [
        f"{count:,} of {size:,} steps{f' of {name!r}' if name else ''} had no value and carry the "
        f"last one forward: {', '.join(first)}{', …' * (count > len(first))}"
        for name, count, first, size in gaps[:NAMED]
    ]
    if len(gaps) > NAMED:
        said.append(f"{len(gaps) - NAMED:,} more series have steps without a value")
    return tuple(said)


def averaged_remarks(rows: int) -> tuple[str, ...]:
    return (f"{rows:,} rows fell into a step with another one and were averaged",) if rows else ()


def scale_of(values: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of what is there; 1 for a constant."""
    present = values[~np.isnan(values)]
    if not len(present):
        return 0.0, 1.0
    return float(present.mean()), float(present.std()) or 1.0

"""Series of a table on a grid of times, and the end of each as the window that a model takes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.columns import Columns, as_columns, numeric_column
from chainrule.data.readers.times import TimeGrid, parse_times
from chainrule.data.state import FLAG, LIST, OBJECT, TEXT, fields, is_number, shown, whole
from chainrule.errors import InputError
from chainrule.registry import unknown

MAX_STEPS = 50_000_000  # of all series on their grid
MAX_SPAN = 100_000  # steps of a window
NAMED = 3  # gaps and series in a remark
QUANTILES = (0.1, 0.5, 0.9)


class History(NamedTuple):
    """One series on the grid.

    name: of its group; empty where the table has no groups.
    start: index of its first step on the grid.
    values: one number per step, NaN where there is none; the first and the last are numbers.
    """

    name: str
    start: int
    values: np.ndarray

    @property
    def end(self) -> int:
        """Index of the step after the last."""
        return self.start + len(self.values)


@dataclass(frozen=True)
class SeriesEncoder:
    """The end of each series of a table as the window that a model takes.

    time, target, group: the columns; group is empty for a table of one series.
    grid: the steps of time.
    context, horizon: steps that are read and steps that are forecast.
    season: steps of a period.
    scales: mean and standard deviation of the training period by series.
    averaged: whether several rows of a step are averaged; else they are refused.
    """

    time: str
    target: str
    group: str
    grid: TimeGrid
    context: int
    horizon: int
    season: int
    scales: dict[str, tuple[float, float]]
    averaged: bool = False

    def scale(self, history: History) -> tuple[float, float]:
        """Mean and standard deviation of a series; of a new one those of its own past."""
        return self.scales.get(history.name) or scale_of(history.values)

    def features(self, history: History) -> Float[np.ndarray, "steps features"]:
        """The standardized value, whether it is missing, and the calendar, of each step."""
        mean, std = self.scale(history)
        missing = np.isnan(history.values)
        last = np.maximum.accumulate(np.where(missing, 0, np.arange(len(missing))))
        z = (history.values[last] - mean) / std
        calendar = self.grid.calendar(np.arange(history.start, history.end))
        own = np.stack([z, missing], 1).astype(np.float32)
        return np.concatenate([own, calendar], 1)

    def histories(self, source: Any) -> list[History]:
        """The series of a CSV file, a DataFrame or a dictionary, long enough for a window."""
        rows = read_rows(as_columns(source), self.time, self.target, self.group)
        if rows.dates == (self.grid.kind == "numbers"):
            raise InputError(f"column {self.time!r}: expected times like those of training")
        found = on_grid(rows, self.grid, self.averaged)[0]
        for history in found:
            if len(history.values) < self.context:
                named = f"series {history.name!r}" if history.name else "the series"
                raise InputError(
                    f"{named} has {len(history.values):,} steps; expected at least {self.context:,}"
                    " to forecast from"
                )
        return found

    def encode(self, source: Any) -> Float[Tensor, "series context features"]:
        """The last `context` steps of each series."""
        return self.windows(self.histories(source))

    def windows(self, found: Sequence[History]) -> Float[Tensor, "series context features"]:
        """The last `context` steps of these series."""
        return torch.from_numpy(np.stack([self.features(h)[-self.context :] for h in found]))

    def encode_file(self, path: str | Path) -> Float[Tensor, "series context features"]:
        with errors_naming(path):
            return self.encode(path)

    def answers(self, found: Sequence[History], output: Tensor) -> list[dict[str, Any]]:
        """One answer per series and step: the median, and the quantiles around it.

        found: the series.
        output: (series, horizon, quantiles) as a model gives it for their windows.
        """
        answers = []
        for history, quantiles in zip(found, output.double().numpy(), strict=True):
            mean, std = self.scale(history)
            times = self.grid.names(np.arange(history.end, history.end + self.horizon))
            named = {self.group: history.name} if self.group else {}
            for when, (low, middle, high) in zip(times, quantiles * std + mean, strict=True):
                band = {f"quantile {QUANTILES[0]}": low, f"quantile {QUANTILES[-1]}": high}
                answers.append(named | {self.time: when, "prediction": float(middle)} | band)
        return answers

    def to_json(self) -> dict[str, Any]:
        scales = {name: list(scale) for name, scale in self.scales.items()}
        return {"kind": "series", **asdict(self), "scales": scales}

    @classmethod
    def from_json(cls, state: Any) -> "SeriesEncoder":
        span = whole(1, MAX_SPAN)
        found = fields(
            state,
            "the encoder of series",
            **dict.fromkeys(("time", "target", "group"), TEXT),
            **dict.fromkeys(("context", "horizon", "season"), span),
            grid=OBJECT,
            scales=OBJECT,
            averaged=FLAG,
        )
        for name, scale in found["scales"].items():
            numbers = LIST.holds(scale) and len(scale) == 2 and all(map(is_number, scale))
            if not numbers or scale[1] <= 0:
                raise InputError(f"expected mean and deviation of {name!r}, got {shown(scale)}")
            found["scales"][name] = tuple(scale)
        return cls(**found | {"grid": TimeGrid.from_json(found["grid"])})


class Rows(NamedTuple):
    """The columns of a table of series, as numbers."""

    time: str
    times: np.ndarray
    dates: bool
    values: np.ndarray
    names: list[str]


def read_rows(columns: Columns, time: str, target: str, group: str) -> Rows:
    """Times, values and series of each row."""
    for name in (time, target, *([group] if group else [])):
        if name not in columns:
            raise InputError(unknown("column", name, list(columns)))
    if len({time, target, group}) < 3:
        raise InputError("expected different columns as `time`, `target` and `group`")
    times, dates = parse_times(time, columns[time])
    values = numeric_column(target, columns[target])
    if np.isnan(values).all():
        raise InputError(f"column {target!r}: expected numbers, got none")
    return Rows(time, times, dates, values, columns[group] if group else [""] * len(values))


def on_grid(rows: Rows, grid: TimeGrid, averaged: bool) -> tuple[list[History], tuple[str, ...]]:
    """(series, remarks): every series on the grid, from its first number to its last.

    averaged: whether rows of one step are averaged; else they are refused.
    """
    if not averaged:
        grid.check(rows.time, rows.times)
    names, numbers = np.unique(np.array(rows.names, dtype=object).astype(str), return_inverse=True)
    index = grid.index(rows.times)
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
        own = numbers == number if len(names) > 1 else slice(None)
        history = placed(str(names[number]), index[own], values[own])
        found.append(history)
        empty = history.start + np.flatnonzero(np.isnan(history.values))
        if len(empty):
            gaps.append((history.name, len(empty), grid.names(empty[:NAMED]), len(history.values)))
    return found, gap_remarks(gaps) + averaged_remarks(int(same.sum()))


def placed(name: str, index: np.ndarray, values: np.ndarray) -> History:
    """A series on the grid; several values of a step are averaged."""
    start, size = int(index[0]), int(index[-1] - index[0]) + 1
    if size > MAX_STEPS:
        raise InputError(f"expected at most {MAX_STEPS:,} steps of a series, got {size:,}")
    count = np.bincount(index - start, minlength=size)
    total = np.bincount(index - start, values, minlength=size)
    return History(name, start, np.where(count > 0, total / np.maximum(count, 1), np.nan))


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

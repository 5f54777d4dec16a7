"""Series of a table on a grid of times, and the end of each as the window that a model takes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.files import errors_naming
from chainrule.data.readers.series.series_rows import (
    History,
    NamedColumns,
    on_grid,
    read_rows,
    scale_of,
)
from chainrule.data.readers.series.times import TimeGrid
from chainrule.data.readers.tables.columns import as_columns
from chainrule.data.readers.tables.dates import ORDERS
from chainrule.data.readers.tables.numbers import NumberFormat
from chainrule.data.state import (
    FLAG,
    LIST,
    OBJECT,
    TEXT,
    TEXTS,
    fields,
    is_number,
    one_of,
    optional,
    shown,
    whole,
)
from chainrule.errors import InputError

MAX_SPAN = 100_000  # steps of a window
QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class SeriesEncoder:
    """The end of each series of a table as the window that a model takes.

    time, target, group: the columns; group is empty for a table of one series.
    grid: the steps of time.
    context, horizon: steps that are read and steps that are forecast.
    season: steps of a period.
    scales: mean and standard deviation of the training period by series.
    averaged: whether several rows of a step are averaged; else they are refused.
    covariates: further columns whose past is read.
    covariate_scales: mean and standard deviation of each in the training period.
    date_order: how dates such as 1/3/2024 are read.
    formats: how columns write their numbers.
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
    covariates: tuple[str, ...] = ()
    covariate_scales: tuple[tuple[float, float], ...] = ()
    date_order: str = "auto"
    formats: Mapping[str, NumberFormat] = field(default_factory=dict)

    def scale(self, history: History) -> tuple[float, float]:
        """Mean and standard deviation of a series; of a new one those of its own past."""
        return self.scales.get(history.name) or scale_of(history.values)

    def features(self, history: History) -> Float[np.ndarray, "steps features"]:
        """The standardized value, whether it is missing, covariates and calendar of each step."""
        mean, std = self.scale(history)
        missing = np.isnan(history.values)
        z = (carried_forward(history.values) - mean) / std
        calendar = self.grid.calendar(np.arange(history.start, history.end))
        others = [
            np.nan_to_num((carried_forward(values) - center) / spread)
            for values, (center, spread) in zip(
                history.covariates.T, self.covariate_scales, strict=True
            )
        ]
        own = np.stack([z, missing, *others], 1).astype(np.float32)
        return np.concatenate([own, calendar], 1)

    def histories(self, source: Any) -> list[History]:
        """The series of a CSV file, a DataFrame or a dictionary, long enough for a window."""
        names = self.time, self.target, self.group
        named = NamedColumns(*names, self.covariates, self.date_order, self.formats)
        rows = read_rows(as_columns(source), named)
        if rows.dates == (self.grid.kind == "numbers"):
            raise InputError(f"column {self.time!r}: expected times like those of training")
        found = on_grid(rows, self.grid, self.averaged)[0]
        for history in found:
            if len(history.values) < self.context:
                which = f"series {history.name!r}" if history.name else "the series"
                raise InputError(
                    f"{which} has {len(history.values):,} steps; expected at least {self.context:,}"
                    " to forecast from"
                )
        return found

    def encode(self, source: Any) -> Float[Tensor, "series context features"]:
        """The last `context` steps of each series."""
        return self.windows(self.histories(source))

    def windows(self, found: Sequence[History]) -> Float[Tensor, "series context features"]:
        """The last `context` steps of these series."""
        return torch.from_numpy(np.stack([self.features(h)[-self.context :] for h in found]))

    def recent(self, history: History, number: int) -> tuple[Tensor, Tensor, Tensor]:
        """(x, y, origins) of the last so many windows, the last of which has no future yet.

        y: (windows, horizon, 2): the standardized value, and whether it was observed.
        origins: (windows, 2): 0, and the first step that a window forecasts.
        """
        z = torch.from_numpy(self.features(history))
        nothing = torch.zeros(self.horizon, z.shape[1])
        nothing[:, 1] = 1
        seen = torch.cat([z, nothing]).unfold(0, self.context + self.horizon, 1).transpose(1, 2)
        seen = seen[-number:]
        future = seen[:, self.context :]
        last = torch.arange(history.end - len(seen) + 1, history.end + 1)
        y = torch.stack([future[:, :, 0], 1 - future[:, :, 1]], 2)
        return seen[:, : self.context], y, torch.stack([torch.zeros_like(last), last], 1)

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
            steps = (quantiles * std + mean).tolist()
            for when, (low, middle, high) in zip(times, steps, strict=True):
                band = {f"quantile {QUANTILES[0]}": low, f"quantile {QUANTILES[-1]}": high}
                answers.append(named | {self.time: when, "prediction": middle} | band)
        return answers

    def to_json(self) -> dict[str, Any]:
        state = {"kind": "series", **asdict(self)}
        state["scales"] = {name: list(scale) for name, scale in self.scales.items()}
        if not self.covariates:  # as before there were any
            del state["covariates"], state["covariate_scales"]
        if self.date_order == "auto":
            del state["date_order"]
        if not self.formats:
            del state["formats"]
        return state

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
            covariates=optional(TEXTS),
            covariate_scales=optional(LIST),
            date_order=optional(one_of(*ORDERS)),
            formats=optional(OBJECT),
        )
        for name, scale in found["scales"].items():
            found["scales"][name] = checked_scale(name, scale)
        formats = {k: NumberFormat.from_json(v) for k, v in found.get("formats", {}).items()}
        names, scales = found.get("covariates", ()), found.get("covariate_scales", ())
        if len(names) != len(scales):
            raise InputError(f"expected {len(names)} scales of covariates, got {len(scales)}")
        found["covariates"] = tuple(names)
        found["covariate_scales"] = tuple(map(checked_scale, names, scales))
        return cls(**found | {"formats": formats, "grid": TimeGrid.from_json(found["grid"])})


def checked_scale(name: str, scale: Any) -> tuple[float, float]:
    """Mean and deviation as JSON held them."""
    numbers = LIST.holds(scale) and len(scale) == 2 and all(map(is_number, scale))
    if not numbers or scale[1] <= 0:
        raise InputError(f"expected mean and deviation of {name!r}, got {shown(scale)}")
    return scale[0], scale[1]


def carried_forward(values: np.ndarray) -> np.ndarray:
    """The last number where there is none; NaN before the first."""
    last = np.maximum.accumulate(np.where(np.isnan(values), 0, np.arange(len(values))))
    return values[last]

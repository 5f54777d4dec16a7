"""Your own time series: a table of times and numbers as windows of history and future.

    date,store,units        one row per time, or per time and group
    2024-01-01,north,17

Each series is put on a regular grid of times. Steps without a row or a number carry the last one
forward and are marked; they are never a target. The split is by time: the last fifth of the steps
is the test period, the fifth before it is for validation, and the future of a window never
overlaps the next period. Every series is standardized by its own training period.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from chainrule.arguments import Count, checked
from chainrule.data.readers.series.series_encoder import MAX_SPAN, SeriesEncoder
from chainrule.data.readers.series.series_rows import (
    History,
    NamedColumns,
    on_grid,
    read_rows,
    scale_of,
)
from chainrule.data.readers.series.times import TimeGrid, given_grid, infer_grid
from chainrule.data.readers.tables.columns import as_columns, listed
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError

SHARE = 0.2  # of the steps for the test period, and as many for validation
MAX_WINDOWS = 2**28  # numbers in all windows


@dataclass(frozen=True, repr=False)
class SeriesSplits(Splits):
    """Windows of history and the future of each, split by time.

    x: (n, context, features): standardized value, whether it is missing, covariates, calendar.
    y: (n, horizon, 2): standardized value, and 1 where it was observed, 0 where it is a gap.

    histories: the series.
    origins: of each window of a split, the number of its series and the grid step it forecasts
        first.
    """

    histories: tuple[History, ...] = ()
    origins: dict[str, Tensor] = field(default_factory=dict)


@dataclass(frozen=True)
class SeriesOptions:
    """How a table of series is read.

    season: steps of a period; 0 takes the usual one: a week of days, a year of months.
    step: distance of two steps, such as day, weekday, 15 minutes or month, several rows of a step
        being averaged; empty infers it.
    covariates: further columns of numbers, whose past is read beside that of the target.
    date_order: "day-first" or "month-first", where dates such as 1/3/2024 leave it open.
    decimal: the decimal mark of the numbers; empty finds it out.
    """

    season: int = 0
    step: str = ""
    covariates: tuple[str, ...] = ()
    date_order: str = "auto"
    decimal: str = ""


DEFAULT = SeriesOptions()


@checked
def series(
    source: Any,
    time: str,
    target: str,
    horizon: Count,
    group: str = "",
    context: int = 0,
    options: SeriesOptions = DEFAULT,
) -> SeriesSplits:
    """The windows of a table of time series.

    source: the path of a CSV file, a pandas DataFrame or a dictionary of columns.
    time: the column of dates, of dates with a time of day, or of whole numbers.
    target: the column to forecast.
    horizon: how many steps are forecast.
    group: the column that tells series apart; empty for a single one.
    context: how many steps a model reads; 0 takes two seasons or two horizons, if there is room.
    options: season, step, covariates, and the order of day and month.

    >>> import numpy as np
    >>> step = np.arange(200)
    >>> data = series({"t": step, "level": np.sin(step / 5)}, "t", "level", horizon=3)
    >>> data.train.y.shape[1]
    3
    """
    columns, step = as_columns(source), options.step
    named = NamedColumns(time, target, group, options.covariates, options.date_order)
    named = named._replace(formats=named.number_formats(columns, options.decimal))
    rows = read_rows(columns, named)
    grid = (
        given_grid(step, rows.times, rows.dates)
        if step
        else infer_grid(time, rows.times, rows.dates)
    )
    found, remarks = on_grid(rows, grid, bool(step))
    first, last = min(h.start for h in found), max(h.end for h in found)
    held = max(horizon, round(SHARE * (last - first)))
    training = last - first - 2 * held
    context, season = spans(training, horizon, context, options.season or None, grid)
    cuts = last - 2 * held, last - held
    scales = training_scales(found, cuts[0])
    encoder = SeriesEncoder(
        *(time, target, group, grid, context, horizon, season, scales, bool(step)),
        covariates=options.covariates,
        covariate_scales=covariate_scales(found, cuts[0], options.covariates),
        date_order=options.date_order,
        formats=dict(named.formats or {}),
    )
    parts, origins = windows(encoder, found, cuts)
    unused = [name for name in columns if name not in (time, target, group, *options.covariates)]
    if unused:
        remarks += (f"not used: {listed(unused)}; name columns of numbers as `covariates`",)
    said = f"{grid}, {grid.names(np.array([first]))[0]} to {grid.names(np.array([last - 1]))[0]}"
    return SeriesSplits(
        parts["train"],
        parts["validation"],
        parts["test"],
        (),
        encoder,
        (f"{said}; {context} steps are read, a season has {season}", *remarks),
        tuple(found),
        origins,
    )


def spans(
    training: int, horizon: int, context: int, season: int | None, grid: TimeGrid
) -> tuple[int, int]:
    """(context, season): as given, or the usual ones that leave room for training windows."""
    room = training - horizon
    for name, value in (("context", context), ("season", season or 0)):
        if not 0 <= value <= MAX_SPAN:
            raise InputError(f"`{name}` must be from 0 to {MAX_SPAN:,}, got {value}")
    if season is None:
        season = grid.season if 2 * grid.season <= (context or room // 2) else 1
    context = context or max(season, min(2 * max(season, horizon), room // 2))
    if context < season:
        raise InputError(f"`context` must be at least the season of {season} steps, got {context}")
    if context > room or context < 1:
        raise InputError(
            f"the training period has {max(training, 0):,} steps; expected at least "
            f"{max(context, 1) + horizon:,}, which are read and forecast; use more rows, a shorter "
            "`horizon` or a shorter `context`"
        )
    return context, season


def training_scales(found: Sequence[History], cut: int) -> dict[str, tuple[float, float]]:
    """Mean and deviation of each series before the cut; of a later one those of all."""
    past = {h.name: h.values[: max(0, cut - h.start)] for h in found}
    pooled = scale_of(np.concatenate(list(past.values())))
    return {name: scale_of(values) if len(values) > 1 else pooled for name, values in past.items()}


def covariate_scales(
    found: Sequence[History], cut: int, names: Sequence[str]
) -> tuple[tuple[float, float], ...]:
    """Mean and deviation of each covariate before the cut, over all series."""
    past = np.concatenate([h.covariates[: max(0, cut - h.start)] for h in found])
    for name, values in zip(names, past.T, strict=True):
        if np.isnan(values).all():
            raise InputError(f"column {name!r}: expected numbers in the training period, got none")
    return tuple(scale_of(values) for values in past.T)


def windows(
    encoder: SeriesEncoder, found: Sequence[History], cuts: tuple[int, int]
) -> tuple[dict[str, Split], dict[str, Tensor]]:
    """Split and origins of all windows whose future lies in one period and was observed."""
    context, horizon = encoder.context, encoder.horizon
    size = context + horizon
    features = [torch.from_numpy(encoder.features(h)) for h in found]
    count = sum(max(0, len(z) - size + 1) for z in features)
    if count * size * features[0].shape[1] > MAX_WINDOWS:
        raise InputError(
            f"{count:,} windows of {size:,} steps need more than {MAX_WINDOWS:,} numbers; set a "
            "shorter `context` or a longer `step`"
        )
    parts: dict[str, list[tuple[Tensor, Tensor, Tensor]]] = {}
    for number, (history, z) in enumerate(zip(found, features, strict=True)):
        if len(z) < size:
            continue
        seen = z.unfold(0, size, 1).transpose(1, 2)  # a view, no copy
        origin = history.start + context + torch.arange(len(seen))
        observed = z[:, 1].unfold(0, size, 1)[:, context:].sum(1) < horizon
        end = origin + horizon
        chosen = {
            "train": end <= cuts[0],
            "validation": (origin >= cuts[0]) & (end <= cuts[1]),
            "test": origin >= cuts[1],
        }
        for name, rows in chosen.items():
            rows = rows & observed
            future = torch.stack([seen[rows, context:, 0], 1 - seen[rows, context:, 1]], 2)
            where = torch.stack([torch.full_like(origin[rows], number), origin[rows]], 1)
            parts.setdefault(name, []).append((seen[rows, :context], future, where))
    joined = {name: [torch.cat(p) for p in zip(*part, strict=True)] for name, part in parts.items()}
    for name in ("train", "validation", "test"):
        if name not in joined or not len(joined[name][0]):
            raise InputError(
                f"no series has {size:,} steps for a window of the {name} period; use longer "
                "series, a shorter `horizon` or a shorter `context`"
            )
    splits = {name: Split(x, y) for name, (x, y, _) in joined.items()}
    return splits, {name: where for name, (_, _, where) in joined.items()}

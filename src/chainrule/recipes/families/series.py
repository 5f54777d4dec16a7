"""Shared by forecasts of a user's series: loss, metrics in the target's units, baselines, figures.

    seasonal naive   v_{t+k} = v_{t+k-s·⌈k/s⌉}: the last season again
    AR(p)            v_{t+1} = c + Σ_{l=0…p-1} a_l v_{t-l}, least squares, then iterated

Both get a band from their own errors, as the networks do.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.data.readers.series.series import SeriesSplits
from chainrule.data.readers.series.series_encoder import QUANTILES, SeriesEncoder
from chainrule.learning.losses import pinball
from chainrule.learning.tasks import Task
from chainrule.runs.bands import band_margins, rolling_margins, widened
from chainrule.runs.predictions import SPLITS, Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from chainrule.plots.series import Panel

Windows = Float[Tensor, "n context features"]
Futures = Float[Tensor, "n horizon 2"]
Quantiles = Float[Tensor, "n horizon quantiles"]
PANELS = 3  # series that are drawn
BLOCKS = 4  # forecasts in a picture, one after the other
MOST_ROWS = 200_000  # windows of the least-squares fit


def observed_pinball(output: Quantiles, y: Futures) -> Float[Tensor, " n"]:
    """The mean pinball loss of the steps that have a true value."""
    value, seen = y.unbind(2)
    return (pinball(output, value, QUANTILES) * seen).sum(1) / seen.sum(1).clamp_min(1)


FORECASTING = Task("forecasting", observed_pinball)


def encoder_of(data: SeriesSplits) -> SeriesEncoder:
    assert isinstance(data.encoder, SeriesEncoder)
    return data.encoder


def units(data: SeriesSplits, split: str) -> Float[Tensor, "n 2"]:
    """Mean and deviation of the series of each window."""
    encoder = encoder_of(data)
    scales = torch.tensor([encoder.scale(h) for h in data.histories], dtype=torch.float64)
    return scales[data.origins[split][:, 0]]


def measured(output: Quantiles, data: SeriesSplits, split: str) -> dict[str, float]:
    """Pinball loss in standard deviations; errors of the median and the band in units."""
    y = getattr(data, split).y.double()
    loss = observed_pinball(output.double(), y).mean().item()
    return {"loss": loss} | in_units(output, y, units(data, split))


def in_units(output: Quantiles, y: Futures, scale: Float[Tensor, "n 2"]) -> dict[str, float]:
    """mae, rmse and r2 of the median, and the share of true values inside the band."""
    mean, std = (part[:, None] for part in scale.unbind(1))
    seen = y[:, :, 1] > 0
    truth = (y[:, :, 0].double() * std + mean)[seen]
    low, middle, high = ((q.double() * std + mean)[seen] for q in output.unbind(2))
    missed = middle - truth
    spread = (truth - truth.mean()).square().sum().clamp_min(1e-300)
    return {
        "mae": missed.abs().mean().item(),
        "rmse": missed.square().mean().sqrt().item(),
        "r2": (1 - missed.square().sum() / spread).item(),
        "coverage": ((low <= truth) & (truth <= high)).double().mean().item(),
    }


def seasonal_naive(x: Windows, season: int, horizon: int) -> Float[Tensor, "n horizon"]:
    """The last season of the window, over and over."""
    repeats = -(-horizon // season)
    return x[:, x.shape[1] - season :, 0].repeat(1, repeats)[:, :horizon]


def autoregression(train: Windows, futures: Futures) -> Float[Tensor, " lags"]:
    """(c, a): least squares of the next value on the window, where it was observed."""
    seen = (futures[:, 0, 1] > 0).nonzero().squeeze(1)
    rows = seen[:: max(1, len(seen) // MOST_ROWS)]
    past = train[rows, :, 0].double()
    design = torch.cat([torch.ones(len(past), 1, dtype=torch.float64), past], 1)
    answer = torch.linalg.lstsq(design, futures[rows, 0, 0].double()[:, None], driver="gelsd")
    return answer.solution.squeeze(1)


def iterated(x: Windows, weights: Tensor, horizon: int) -> Float[Tensor, "n horizon"]:
    """AR forecasts: each step reads the forecasts of the steps before it."""
    path = x[:, :, 0].double()
    lags = path.shape[1]
    for _ in range(horizon):
        ahead = weights[0] + path[:, path.shape[1] - lags :] @ weights[1:]
        path = torch.cat([path, ahead[:, None]], 1)
    return path[:, lags:].float()


def banded(raw: Callable[[str], Quantiles], data: SeriesSplits, split: str) -> Quantiles:
    """The outputs on a split with their band moved by the errors of forecasts before it.

    raw: the outputs of a method on a split.
    """
    validation = raw("validation")
    usual = band_margins(validation, data.validation.y)
    if split != "test":
        return widened(raw(split), usual)
    output = torch.cat([validation, raw("test")])
    y = torch.cat([data.validation.y, data.test.y])
    origins = torch.cat([data.origins["validation"], data.origins["test"]])
    margins = rolling_margins(output, y, origins, usual)
    return widened(output, margins)[len(validation) :]


def baseline_outputs(data: SeriesSplits) -> dict[str, dict[str, Quantiles]]:
    """The forecasts of both baselines on every split, in the form of a model's outputs."""
    encoder = encoder_of(data)
    weights = autoregression(data.train.x, data.train.y)
    methods = {
        f"seasonal naive ({encoder.season})": lambda x: seasonal_naive(
            x, encoder.season, encoder.horizon
        ),
        f"AR({encoder.context})": lambda x: iterated(x, weights, encoder.horizon),
    }
    found = {}
    for name, method in methods.items():
        raw = {s: method(getattr(data, s).x)[..., None].repeat(1, 1, 3) for s in SPLITS}
        found[name] = {split: banded(raw.__getitem__, data, split) for split in SPLITS}
    return found


def baseline_metrics(data: SeriesSplits) -> dict[str, Metrics]:
    """Every metric of both baselines."""
    return {
        name: {split: measured(output, data, split) for split, output in splits.items()}
        for name, splits in baseline_outputs(data).items()
    }


def by_series(predictions: Predictions, most: int = 20) -> dict[str, Metrics]:
    """The test metrics of each of the first series."""
    data = predictions.data
    number = data.origins["test"][:, 0]
    scale, y, output = units(data, "test"), data.test.y, predictions.outputs("test")
    found = {}
    for k, history in list(enumerate(data.histories))[:most]:
        rows = number == k
        if rows.any() and len(data.histories) > 1:
            found[history.name] = {"test": in_units(output[rows], y[rows].double(), scale[rows])}
    return found


def series_figures(predictions: Predictions) -> "dict[str, Figure]":
    """The last forecasts of the test period, and the error by step ahead beside the baselines."""
    from chainrule.plots.series import error_by_step, forecast_bands

    data = predictions.data
    encoder = encoder_of(data)
    panels = [drawn for k in range(len(data.histories)) if (drawn := panel(predictions, k))]
    others = {name: found["test"] for name, found in baseline_outputs(data).items()}
    every = {"this network": predictions.outputs("test")} | others
    errors = {name: absolute_errors(output, data) for name, output in every.items()}
    title = "mean absolute error on the test period"
    return {
        "forecast": forecast_bands(panels[:PANELS], encoder.target),
        "steps": error_by_step(errors, title, encoder.target),
    }


def absolute_errors(output: Quantiles, data: SeriesSplits) -> np.ndarray:
    """Mean absolute error of the median by step ahead, in units."""
    y, std = data.test.y, units(data, "test")[:, 1:]
    missed = (output[:, :, 1] - y[:, :, 0]).abs().double() * std
    return ((missed * y[:, :, 1]).sum(0) / y[:, :, 1].sum(0).clamp_min(1)).numpy()


def panel(predictions: Predictions, number: int) -> "Panel | None":
    """The end of one series with forecasts from every horizon-th step."""
    from chainrule.plots.series import Panel

    data = predictions.data
    encoder, history = encoder_of(data), data.histories[number]
    rows = (data.origins["test"][:, 0] == number).nonzero().squeeze(1)
    if not len(rows):
        return None
    rows = rows.flip(0)[:: encoder.horizon][:BLOCKS].flip(0)
    mean, std = encoder.scale(history)
    origins = data.origins["test"][rows, 1].tolist()
    start = max(history.start, origins[0] - max(encoder.context, encoder.horizon))
    steps = np.arange(start, history.end)
    times = encoder.grid.times(steps)
    dates = times if encoder.grid.kind == "numbers" else times.astype("datetime64[s]")
    output = predictions.outputs("test")[rows].double().numpy() * std + mean
    forecasts = [(first - start, q) for first, q in zip(origins, output, strict=True)]
    title = f"{encoder.group} {history.name}" if history.name else f"{encoder.horizon} steps ahead"
    return Panel(title, dates, history.values[steps - history.start], forecasts)

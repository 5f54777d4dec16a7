"""Shared by the forecasts of trading volume: baseline and figures."""

from typing import TYPE_CHECKING

import torch

from chainrule.data.datasets import nyse
from chainrule.data.splits import Split, Splits
from chainrule.learning.tasks import REGRESSION
from chainrule.runs.predictions import SPLITS, Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VOLUME = nyse.SERIES.index("log_volume")
DAYS = 120  # of the test period that are drawn


def persistence(data: Splits) -> Metrics:
    """The baseline: tomorrow's volume is today's."""

    def measured(split: Split) -> dict[str, float]:
        return {m.name: m(split.x[:, -1, VOLUME], split.y) for m in REGRESSION.metrics}

    return {name: measured(getattr(data, name)) for name in SPLITS}


def forecast_figures(predictions: Predictions) -> "dict[str, Figure]":
    """The first days of the test period, true and predicted, and the scatter of all of it."""
    from chainrule.plots.predictions import predicted_against_true
    from chainrule.plots.series import forecast

    y = predictions.data.test.y
    found = predictions.outputs("test").flatten()
    title = "log volume of the New York exchange, standardized"
    shown = torch.stack([y, found], 1)[:DAYS].numpy()
    return {
        "forecast": forecast(shown[:, 0], shown[:, 1], title),
        "predictions": predicted_against_true(y.numpy(), found.numpy(), "test", "log volume"),
    }

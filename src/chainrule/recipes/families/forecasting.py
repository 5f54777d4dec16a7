"""What the forecasts of trading volume share: the straw man and the picture."""

from typing import TYPE_CHECKING

import torch
from torch import nn

from chainrule.data.datasets import nyse
from chainrule.data.splits import Split, Splits
from chainrule.learning.metrics import REGRESSION
from chainrule.runs.recipe import SPLITS, Figures
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VOLUME = nyse.SERIES.index("log_volume")
DAYS = 120  # of the test period that are drawn


def straw_man(data: Splits) -> Figures:
    """Tomorrow's volume will be today's."""

    def figures(split: Split) -> dict[str, float]:
        return {
            name: metric(split.x[:, -1, VOLUME], split.y) for name, metric in REGRESSION.items()
        }

    return {name: figures(getattr(data, name)) for name in SPLITS}


def course(model: nn.Module, data: Splits) -> "dict[str, Figure]":
    """The first days of the test period, true and foretold, and the scatter of all of it."""
    from chainrule.plots.predictions import predicted_against_true
    from chainrule.plots.series import forecast

    x, y = data.test
    found = outputs(model, (x,)).float().flatten()
    title = "log volume of the New York exchange, standardized"
    shown = torch.stack([y, found], 1)[:DAYS].numpy()
    return {
        "forecast": forecast(shown[:, 0], shown[:, 1], title),
        "predictions": predicted_against_true(y.numpy(), found.numpy(), "test", "log volume"),
    }

"""Tomorrow's trading volume by autoregression: least squares on the last five days.

    v_t = c + Σ_{l=1…5} (a_l v_{t-l} + b_l r_{t-l} + d_l z_{t-l})

v, r and z: log volume, return and log volatility of a day.

AR(5), solved exactly on the training and validation days, as there is nothing to tune. The baseline
is yesterday's volume. ISL 10.9.6. Notes: L "When to Use Deep
Learning" (NYSE).
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from chainrule.data.datasets import nyse
from chainrule.data.splits import Splits
from chainrule.learning.tasks import REGRESSION
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.recipes.families.forecasting import forecast_figures, persistence
from chainrule.runs.recipe import (
    BaseRecipe,
    DataSummary,
    Metrics,
    Predictions,
    Published,
    one_step,
    only_gradients,
)
from chainrule.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Autoregression(nn.Module):
    """The windows as rows of a linear regression."""

    def __init__(self, inputs: int):
        super().__init__()
        self.regression = LinearRegression(inputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.regression(x.flatten(1))


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Five days of return, volume and volatility → the volume of the next."""

    reference: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.9.6)"
    published: ClassVar[tuple[Published, ...]] = (Published("test r2", 0.41, "ISL 10.9.6, AR(5)"),)

    unsupported: ClassVar[Mapping[str, str]] = only_gradients("is solved by least squares")

    seed: int = 0
    """Without effect: the split is by time and the fit exact."""

    def data(self, folder: Path | None) -> Splits:
        return nyse.load(folder, self.seed)

    def model(self, summary: DataSummary) -> Autoregression:
        return Autoregression(summary.inputs)

    def fit(
        self, model: Autoregression, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        parts = REGRESSION.targets(tuple(data.train)), REGRESSION.targets(tuple(data.validation))
        x, y = (torch.cat(both) for both in zip(*parts, strict=True))
        model.regression.solve(x.flatten(1), y)
        found = self.measure(Predictions(self, model, data), "train", REGRESSION)
        yield one_step(found, "solved exactly")

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        return {"yesterday's volume": persistence(data)}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return forecast_figures(predictions)

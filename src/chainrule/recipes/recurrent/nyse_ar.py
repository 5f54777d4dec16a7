"""Tomorrow's trading volume by autoregression: least squares on the last five days.

    v_t = c + Σ_{l=1…5} (a_l v_{t-l} + b_l r_{t-l} + d_l z_{t-l})

v, r and z: log volume, return and log volatility of a day.

AR(5), solved exactly on the days of the training period, the part for validation included: there is
nothing to choose by it. Yesterday's volume is the straw man. ISL 10.9.6. Notes: L "When to Use Deep
Learning" (NYSE).
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from chainrule.data.datasets import nyse
from chainrule.data.splits import Splits
from chainrule.models.feedforward.linear_regression import LinearRegression
from chainrule.recipes.families.forecasting import course, straw_man
from chainrule.runs.recipe import Experiment, Figures, Published, Task, arrays, measure, one_step
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
class Recipe(Experiment[Autoregression]):
    """Five days of return, volume and volatility → the volume of the next."""

    notes: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.9.6)"
    published: ClassVar[tuple[Published, ...]] = (Published("test r2", 0.41, "ISL 10.9.6, AR(5)"),)

    seed: int = 0
    """Changes nothing: the split is in time and the fit exact."""

    def data(self, folder: Path | None) -> Splits:
        return nyse.load(folder, self.seed)

    def model(self, task: Task) -> Autoregression:
        return Autoregression(task.inputs)

    def learn(
        self, model: Autoregression, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        parts = arrays(data.train), arrays(data.validation)
        x, y = (torch.cat(both) for both in zip(*parts, strict=True))
        model.regression.solve(x.flatten(1), y)
        yield one_step(measure(model, data)["train"], "solved exactly")

    def measure(self, model: Autoregression, data: Splits) -> Figures:
        return measure(model, data)

    def compare(self, data: Splits) -> dict[str, Figures]:
        return {"yesterday's volume": straw_man(data)}

    def pictures(self, model: Autoregression, data: Splits) -> "dict[str, Figure]":
        return course(model, data)

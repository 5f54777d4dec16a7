"""Credit default by a small network beside logistic regression (exercise 10.10.7 of ISL).

10 hidden units and dropout on 10,000 customers, 3.3 % of whom default. Notes: L exercise 10.6.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from chainrule.data.datasets import default
from chainrule.data.splits import Split, Splits
from chainrule.learning.tasks import BINARY
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Student, balance, income → 10 hidden units → default or not."""

    reference: ClassVar[str] = "L exercise 10.6 (ISL 10.10.7)"

    hidden: tuple[int, ...] = (10,)
    """Widths of the hidden layers."""
    dropout: float = 0.1
    """Dropout rate of the hidden layers."""
    settings: Settings = Settings(epochs=60, schedule="one-cycle", learning_rate=1e-2)

    def data(self, folder: Path | None) -> Splits:
        return default.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return MLP(summary.inputs, self.hidden, summary.outputs, dropout=self.dropout)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        return {"logistic regression": logistic_regression(data)}


def logistic_regression(data: Splits) -> Metrics:
    """scikit-learn's, without penalty, on the same rows."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=float("inf"), max_iter=1000).fit(*map(Tensor.numpy, data.train))

    def measured(split: Split) -> dict[str, float]:
        output = torch.from_numpy(fitted.predict_log_proba(split.x.numpy()))
        return {metric.name: metric(output, split.y) for metric in BINARY.metrics}

    return {name: measured(getattr(data, name)) for name in SPLITS}

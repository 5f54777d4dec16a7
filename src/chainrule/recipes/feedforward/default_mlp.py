"""Credit default by a small network beside logistic regression (ISL exercise 10.10.7).

10 hidden units and dropout on 10,000 customers, 3.3 % of whom default. Notes: L exercise 10.6.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from chainrule.data.datasets import default
from chainrule.data.splits import Split, Splits
from chainrule.learning.metrics import TWO_CLASSES
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import SPLITS, Figures, Task, Trained


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """Student, balance, income → 10 hidden units → default or not."""

    notes: ClassVar[str] = "L exercise 10.6 (ISL 10.10.7)"

    hidden: tuple[int, ...] = (10,)
    """Widths of the hidden layers."""
    dropout: float = 0.1
    """Share of hidden units dropped in each step."""
    epochs: int = 60
    schedule: str = "one-cycle"
    learning_rate: float = 1e-2

    def data(self, folder: Path | None) -> Splits:
        return default.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return MLP(task.inputs, self.hidden, task.outputs, dropout=self.dropout)

    def compare(self, data: Splits) -> dict[str, Figures]:
        return {"logistic regression": logistic_regression(data)}


def logistic_regression(data: Splits) -> Figures:
    """scikit-learn's, without penalty, on the same rows."""
    from sklearn.linear_model import LogisticRegression

    fitted = LogisticRegression(C=float("inf"), max_iter=1000).fit(*map(Tensor.numpy, data.train))

    def figures(split: Split) -> dict[str, float]:
        output = torch.from_numpy(fitted.predict_log_proba(split.x.numpy()))
        return {name: metric(output, split.y) for name, metric in TWO_CLASSES.items()}

    return {name: figures(getattr(data, name)) for name in SPLITS}

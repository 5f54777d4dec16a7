"""Distillation on MNIST: a small network taught by a large one.

    chainrule train mnist-ensemble --out runs/teacher
    chainrule train mnist-distill --teacher runs/teacher

The baseline is the same network trained on the labels alone.
Hinton, Vinyals and Dean (2015). Notes: J 8.9.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.configuration import Configuration
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.runs.run import initial_model
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """784-32-10, taught."""

    reference: ClassVar[str] = "J 8.9"

    unsupported: ClassVar[Mapping[str, str]] = {
        "tune": "its teacher has seen the rows that each fold holds out; tune it without a teacher"
    }
    requires: ClassVar[Mapping[str, str]] = {
        "teacher": "chainrule train mnist-ensemble --out runs/teacher makes one"
    }

    hidden: tuple[int, ...] = (32,)
    """Widths of the student's hidden layers."""
    settings: Settings = Settings(epochs=30, schedule="one-cycle", learning_rate=5e-3)

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return MLP(summary.inputs, self.hidden, summary.outputs)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        model = initial_model(Configuration(self), self.summarize(data), data)
        for _ in self.fit(model, data, None, "cpu"):
            pass
        return {"the same network on labels alone": self.evaluate(Predictions(self, model, data))}

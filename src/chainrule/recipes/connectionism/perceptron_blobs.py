"""The perceptron on separable data: it converges within Novikoff's bound.

It also distinguishes data that are not separable from data that need more passes. Notes: J 1.2.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from chainrule.data.datasets import blobs
from chainrule.data.splits import Split, Splits
from chainrule.models.connectionism.perceptron import Perceptron, margin
from chainrule.runs.recipe import (
    SPLITS,
    BaseRecipe,
    DataSummary,
    Metrics,
    Predictions,
    one_step,
    only_gradients,
)
from chainrule.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Points in the plane → one threshold unit."""

    reference: ClassVar[str] = "J 1.2, algorithm 1 and theorem 1.3"

    unsupported: ClassVar[Mapping[str, str]] = only_gradients("learns by the perceptron rule")

    seed: int = 0
    """Determines the validation split."""
    margin: float = 0.1
    """Distance γ of the nearest point from the separating line."""
    num_samples: int = 500
    """Number of points."""
    passes: int = 1000
    """Largest number of passes over the data."""

    def data(self, folder: Path | None) -> Splits:
        return blobs.load(folder, self.seed, num_samples=self.num_samples, margin=self.margin)

    def model(self, summary: DataSummary) -> Perceptron:
        return Perceptron(summary.inputs, bias=False)

    def fit(
        self, model: Perceptron, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        result = model.fit(*signed(data.train), passes=self.passes)
        metrics = error_and_margin(model, data.train)
        counted = {"mistakes": float(result.mistakes), "passes": float(result.passes)}
        yield one_step(metrics | counted, result.reason)

    def evaluate(self, predictions: Predictions) -> Metrics:
        model, data = predictions.model, predictions.data
        assert isinstance(model, Perceptron)
        return {name: error_and_margin(model, getattr(data, name)) for name in SPLITS}

    def decode(self, output: Tensor, summary: DataSummary) -> list[dict[str, Any]]:
        """A threshold unit has no probabilities."""
        return [{"prediction": summary.classes[int(y > 0)]} for y in output.tolist()]

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.boundaries import decision_boundary

        model, data = predictions.model, predictions.data
        assert isinstance(model, Perceptron)

        def score(points: np.ndarray) -> np.ndarray:
            return points @ model.w.numpy() + model.b.numpy()

        x, y = data.test
        wrong = (model(x) != signed(data.test)[1]).numpy()
        return {"boundary": decision_boundary(score, x.numpy(), y.numpy(), data.classes, wrong)}


def signed(split: Split) -> tuple[Tensor, Tensor]:
    """Labels 0 and 1 as the perceptron's -1 and +1."""
    return split.x, 2.0 * split.y - 1


def error_and_margin(model: Perceptron, split: Split) -> dict[str, float]:
    """Share of wrong signs, and the smallest signed distance."""
    x, y = signed(split)
    gamma = margin(model.w, model.b, x.double(), y.double())
    return {
        "error": (model(x) != y).double().mean().item(),
        "margin": torch.nan_to_num(gamma).item(),
    }

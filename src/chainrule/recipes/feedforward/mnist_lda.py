"""MNIST by linear discriminant analysis: 12.7 % test error in the table.

    log P(y = k | x) = w_kᵀ x + c_k + const,   w_k = Σ⁻¹ μ_k,   c_k = log π_k - ½ μ_kᵀ Σ⁻¹ μ_k

scikit-learn fits it; the result is a softmax regression like any other, and is saved as one.
Fisher (1936). Notes: L "MNIST results and insights".
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.feedforward.softmax_regression import SoftmaxRegression
from chainrule.runs.recipe import (
    BaseRecipe,
    DataSummary,
    Predictions,
    Published,
    one_step,
    only_gradients,
)
from chainrule.training import Progress


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """784 pixels → 10 linear discriminants."""

    reference: ClassVar[str] = "L 'MNIST results and insights'"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.127, "L's table"),)

    unsupported: ClassVar[Mapping[str, str]] = only_gradients("is solved exactly")

    seed: int = 0
    """Determines the validation split; the fit itself is exact."""

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, summary: DataSummary) -> SoftmaxRegression:
        return SoftmaxRegression(summary.inputs, summary.outputs)

    def fit(
        self, model: SoftmaxRegression, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        x, y = data.train
        lda = LinearDiscriminantAnalysis().fit(x.flatten(1).numpy(), y.numpy())
        model.load_state_dict(
            {
                "weight": torch.as_tensor(lda.coef_, dtype=torch.float32),
                "bias": torch.as_tensor(lda.intercept_, dtype=torch.float32),
            }
        )
        found = self.measure(Predictions(self, model, data), "train", self.task(data))
        yield one_step(found, "solved exactly")

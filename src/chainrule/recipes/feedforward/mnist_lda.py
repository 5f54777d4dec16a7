"""MNIST by linear discriminant analysis: 12.7 % test error in the table.

    log P(y = k | x) = w_kᵀ x + c_k + const,   w_k = Σ⁻¹ μ_k,   c_k = log π_k - ½ μ_kᵀ Σ⁻¹ μ_k

scikit-learn fits it; the result is a softmax regression like any other, and is saved as one.
Fisher (1936). Notes: L "MNIST results and insights".
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch

from chainrule.data.datasets import mnist
from chainrule.data.splits import Splits
from chainrule.models.feedforward.softmax_regression import SoftmaxRegression
from chainrule.runs.recipe import Experiment, Figures, Published, Task, measure, one_step
from chainrule.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(Experiment[SoftmaxRegression]):
    """784 pixels → 10 linear discriminants."""

    notes: ClassVar[str] = "L 'MNIST results and insights'"
    published: ClassVar[tuple[Published, ...]] = (Published("test error", 0.127, "L's table"),)

    seed: int = 0
    """Draws the validation split; the fit itself is exact."""

    def data(self, folder: Path | None) -> Splits:
        return mnist.load(folder, self.seed)

    def model(self, task: Task) -> SoftmaxRegression:
        return SoftmaxRegression(task.inputs, task.outputs)

    def learn(
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
        yield one_step(measure(model, data)["train"], "solved exactly")

    def measure(self, model: SoftmaxRegression, data: Splits) -> Figures:
        return measure(model, data)

    def pictures(self, model: SoftmaxRegression, data: Splits) -> "dict[str, Figure]":
        from chainrule.runs.pictures import pictures

        return pictures(model, data)

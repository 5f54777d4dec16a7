"""IMDB reviews by logistic regression with a lasso penalty, on bags of words.

    min over β, b of Σ_i log(1 + e^{-(2 y_i - 1)(β·x_i + b)}) + 1/C ‖β‖₁

x_i has a one for each of the 10,000 words that occur in the review; most β are zero at the optimum.
C is chosen on the validation reviews, then the model is refitted on all 25,000 labeled reviews, so
the metrics of both of those splits are training metrics. scikit-learn's coordinate descent.

L's order is linear ≥ network > RNN. The linear model is first here too, with 11.8 % test error, but
the LSTM (`imdb-lstm`, 12.4 %) comes before the network (`imdb-mlp`, 13.4 %), as the tuned LSTM of
ISL does with 87 % accuracy against 86 %: L's order fits a simpler RNN. One run of each, seed 0.
Tibshirani (1996); ISL 10.4. Notes: L "When to Use Deep Learning" (IMDB).
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from chainrule.data.datasets import imdb
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import SPECIAL
from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.feedforward.bag_of_words import PADDING, BagOfWords
from chainrule.runs.recipe import (
    BaseRecipe,
    DataSummary,
    Predictions,
    Published,
    one_step,
    only_gradients,
)
from chainrule.training import Progress

WORDS = imdb.WORDS + len(SPECIAL)


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Which of 10,000 words occur → praise or not."""

    reference: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.4)"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.88, "ISL 10.4, about"),
    )

    unsupported: ClassVar[Mapping[str, str]] = only_gradients("is fitted by coordinate descent")

    seed: int = 0
    """Determines the validation split."""
    strengths: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.5)
    """Values of C, chosen by the validation accuracy."""

    def __post_init__(self) -> None:
        if not self.strengths or not all(0 < c < float("inf") for c in self.strengths):
            raise InputError(f"`strengths` must be numbers above 0, got {self.strengths}")

    def data(self, folder: Path | None) -> Splits:
        return imdb.bags(folder, self.seed)

    def model(self, summary: DataSummary) -> BagOfWords:
        return BagOfWords(WORDS, (), summary.outputs)

    def fit(
        self, model: BagOfWords, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        train, validation = data.train, data.validation
        x_validation = sparse(validation.x)
        fits = [fitted(train, strength) for strength in self.strengths]
        scores = [fit.score(x_validation, validation.y.numpy()) for fit in fits]
        best = int(np.argmax(scores))
        both = Split(*(torch.cat(parts) for parts in zip(train, validation, strict=True)))
        found = fitted(both, self.strengths[best])
        with torch.no_grad():
            model.words.weight.zero_()
            model.words.weight[:, 1] = torch.from_numpy(found.coef_[0]).float()
            model.bias.copy_(torch.tensor([0.0, found.intercept_[0]]))
        chosen = {"validation_accuracy": scores[best], "strength": self.strengths[best]}
        metrics = self.measure(Predictions(self, model, data), "train", self.task(data))
        why = f"C = {self.strengths[best]:g} was best of {len(fits)}"
        progress = one_step(metrics, why)
        assert progress.record is not None
        progress.record.update(chosen)
        yield progress

    def measure(self, predictions: Predictions, split: str, task: Task) -> dict[str, float]:
        """Also how many words have a weight."""
        words = (predictions.model.words.weight[:, 1] != 0).sum()  # type: ignore[union-attr, index]
        return super().measure(predictions, split, task) | {"words": float(words)}


def sparse(tokens: Tensor) -> Any:
    """Rows of zeros and ones, of which only the ones are stored."""
    from scipy.sparse import csr_matrix

    rows, places = np.nonzero(tokens.numpy() != PADDING)
    words = tokens.numpy()[rows, places]
    return csr_matrix((np.ones(len(rows)), (rows, words)), shape=(len(tokens), WORDS))


def fitted(split: Split, strength: float) -> Any:
    """scikit-learn's logistic regression with the lasso penalty."""
    from sklearn.linear_model import LogisticRegression

    rule = LogisticRegression(solver="liblinear", l1_ratio=1.0, C=strength, random_state=0)
    return rule.fit(sparse(split.x), split.y.numpy())

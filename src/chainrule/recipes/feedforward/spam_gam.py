"""Spam e-mails by a generalized additive model, beside the network (ESL exercise 11.7).

    logit P(spam | x) = b + Σ_j f_j(x_j),    f_j a natural cubic spline of one input

Every one of the 57 inputs has knots at equal distances over its range; logistic regression with a
ridge penalty, chosen on the validation e-mails, fits all splines together. The picture shows the
partial effects f_j of the inputs that change the logit most. `spam-mlp` is the network of the
exercise, which may also use interactions of inputs.
Hastie and Tibshirani (1990); splines as in ESL 5.2.1. Notes: L exercise 10.6.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.data.datasets import spam
from chainrule.data.splits import Split, Splits
from chainrule.errors import InputError
from chainrule.runs.recipe import BaseRecipe, DataSummary, Predictions, one_step, only_gradients
from chainrule.training import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 6  # partial effects in the picture


class AdditiveModel(nn.Module):
    """A sum of one natural cubic spline of each input: the logit of the second class."""

    def __init__(self, inputs: int, knots: int):
        super().__init__()
        self.register_buffer("knots", torch.arange(knots).float().expand(inputs, knots).clone())
        self.register_buffer("mean", torch.zeros(inputs, knots - 1))
        self.register_buffer("std", torch.ones(inputs, knots - 1))
        self.weight = nn.Parameter(torch.zeros(inputs, knots - 1))
        self.bias = nn.Parameter(torch.zeros(()))

    def place(self, x: Float[Tensor, "batch inputs"]) -> None:
        """Knots over the range of x, and functions of mean 0 and variance 1."""
        assert isinstance(self.knots, Tensor)
        low, high = x.min(0).values, x.max(0).values
        share = torch.linspace(0, 1, self.knots.shape[1])
        self.knots.copy_(low[:, None] + (high - low)[:, None] * share)
        basis = natural_splines(x, self.knots)
        self.mean, self.std = basis.mean(0), basis.std(0).clamp_min(1e-6)

    def basis(self, x: Float[Tensor, "batch inputs"]) -> Float[Tensor, "batch inputs functions"]:
        """The standardized functions of each input."""
        assert isinstance(self.knots, Tensor)
        return (natural_splines(x, self.knots) - self.mean) / self.std

    def effects(self, x: Float[Tensor, "batch inputs"]) -> Float[Tensor, "batch inputs"]:
        """f_j(x_j)."""
        return (self.basis(x) * self.weight).sum(2)

    def forward(self, x: Float[Tensor, "batch inputs"]) -> Float[Tensor, "batch 2"]:
        logit = self.effects(x).sum(1) + self.bias
        return torch.stack([torch.zeros_like(logit), logit], 1)


def natural_splines(
    x: Float[Tensor, "batch inputs"], knots: Float[Tensor, "inputs knots"]
) -> Float[Tensor, "batch inputs functions"]:
    """x and d_k - d_{K-1} for k < K - 1, d_k = ((x - ξ_k)₊³ - (x - ξ_K)₊³) / (ξ_K - ξ_k)."""
    cubes = (x[..., None] - knots).clamp_min(0) ** 3
    d = (cubes[..., :-1] - cubes[..., -1:]) / (knots[:, -1:] - knots[:, :-1]).clamp_min(1e-6)
    return torch.cat([x[..., None], d[..., :-1] - d[..., -1:]], -1)


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """57 features → a spline of each → spam or not."""

    reference: ClassVar[str] = "L exercise 10.6 (ESL 11.7)"
    unsupported: ClassVar[Mapping[str, str]] = only_gradients("is fitted by iterated least squares")

    seed: int = 0
    """Determines the validation split."""
    knots: int = 5
    """Knots of each spline, at least 3."""
    strengths: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
    """Values of C, the inverse of the ridge penalty, chosen by the validation loss."""

    def __post_init__(self) -> None:
        if self.knots < 3:
            raise InputError(f"`knots` must be at least 3, got {self.knots}")
        if not self.strengths or not all(0 < c < float("inf") for c in self.strengths):
            raise InputError(f"`strengths` must be numbers above 0, got {self.strengths}")

    def data(self, folder: Path | None) -> Splits:
        return spam.load(folder, self.seed)

    def model(self, summary: DataSummary) -> AdditiveModel:
        return AdditiveModel(summary.inputs, self.knots)

    def fit(
        self, model: AdditiveModel, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        model.place(data.train.x)
        task, losses = self.task(data), []
        for strength in self.strengths:
            put(model, fitted(model, data.train, strength))
            losses.append(self.measure(Predictions(self, model, data), "validation", task)["loss"])
        best = self.strengths[losses.index(min(losses))]
        put(model, fitted(model, data.train, best))
        metrics = self.measure(Predictions(self, model, data), "train", task)
        yield one_step(metrics, f"C = {best:g} was best of {len(losses)}")

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.claims import claim_figure

        model, data = predictions.model, predictions.data
        assert isinstance(model, AdditiveModel)
        with torch.no_grad():
            spread = model.effects(data.train.x).std(0)
            low, high = data.train.x.min(0).values, data.train.x.max(0).values
            grid = low + (high - low) * torch.linspace(0, 1, 100)[:, None]
            effects = model.effects(grid)
        chosen = spread.topk(min(SHOWN, len(spread))).indices.tolist()
        effect_curves = {
            spam.FEATURES[j]: (grid[:, j].tolist(), effects[:, j].tolist()) for j in chosen
        }
        drawn = claim_figure(
            title="Partial effects of the inputs that change the logit most",
            x_label="standardized logarithm of the input",
            y_label="effect on the logit of spam",
            curves=effect_curves,
        )
        return {**super().figures(predictions), "partial-effects": drawn}


def fitted(model: AdditiveModel, split: Split, strength: float) -> Any:
    """scikit-learn's logistic regression with a ridge penalty."""
    from sklearn.linear_model import LogisticRegression

    rule = LogisticRegression(C=strength, solver="newton-cholesky", max_iter=200)
    return rule.fit(model.basis(split.x).flatten(1).double().numpy(), split.y.numpy())


@torch.no_grad()
def put(model: AdditiveModel, found: Any) -> None:
    """The coefficients as weights."""
    model.weight.copy_(torch.from_numpy(found.coef_).view_as(model.weight))
    model.bias.copy_(torch.tensor(found.intercept_[0]))

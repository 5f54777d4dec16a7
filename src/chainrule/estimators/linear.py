"""Linear and ridge regression in closed form, with weights for the examples.

    min over W, b of Σ_i s_i ‖W x_i + b - y_i‖² + α ‖W‖²

Centered by the weighted means and with rows times √s_i this is the problem that the course's models
solve by singular values.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from chainrule.arguments import NonNegative
from chainrule.estimators.base import Estimator, counted, estimator, example_weights, tensor
from chainrule.models import feedforward
from chainrule.training import outputs


class LeastSquares(MultiOutputMixin, RegressorMixin, Estimator):
    """An affine map in double precision; subclasses name the model that solves for it."""

    fit_intercept: bool

    @abstractmethod
    def _model(self, inputs: int, outputs: int) -> feedforward.LinearRegression:
        """The model before it is solved."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LeastSquares":
        """Solve for W and b."""
        self._check_arguments()
        X, y = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        weights, x, Y = counted(example_weights(sample_weight, X), X, y.reshape(len(y), -1))
        self.module_ = self._model(x.shape[1], Y.shape[1]).double()
        solve(self.module_, tensor(x), tensor(Y, torch.float64), tensor(weights))
        W, b = self.module_.weight, self.module_.bias
        one = y.ndim == 1
        self.coef_ = W.numpy(force=True)[0 if one else slice(None)]
        self.intercept_ = 0.0 if b is None else b.numpy(force=True)[0 if one else slice(None)]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """W x + b, in the shape of the targets."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        found = outputs(self.module_, (tensor(X),)).numpy()
        return found[:, 0] if self.coef_.ndim == 1 else found


@estimator
class LinearRegression(LeastSquares):
    """Least squares; the solution of the smallest norm where there are several.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(LinearRegression().fit(X, y).score(X, y), 3)
    0.518
    """

    fit_intercept: bool = True
    """Whether to fit an intercept b."""

    def _model(self, inputs: int, outputs: int) -> feedforward.LinearRegression:
        return feedforward.LinearRegression(inputs, outputs, self.fit_intercept)


@estimator
class RidgeRegression(LeastSquares):
    """Least squares with a ridge penalty; b is not penalized.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(RidgeRegression(alpha=0.1).fit(X, y).score(X, y), 3)
    0.513
    """

    alpha: NonNegative = 1.0
    """α, the weight of the penalty ‖W‖²."""
    fit_intercept: bool = True
    """Whether to fit an intercept b."""

    def _model(self, inputs: int, outputs: int) -> feedforward.LinearRegression:
        return feedforward.RidgeRegression(inputs, outputs, self.alpha, self.fit_intercept)


@torch.no_grad()
def solve(
    model: feedforward.LinearRegression, x: torch.Tensor, y: torch.Tensor, s: torch.Tensor
) -> None:
    """Set W and b to the solution for examples with weights s."""
    share = (s / s.sum() * (model.bias is not None))[:, None]
    x_mean, y_mean = (share * x).sum(0), (share * y).sum(0)
    root = s.sqrt()[:, None]
    # Centering leaves rounding errors of the size of the uncentered data.
    rounding = torch.finfo(x.dtype).eps * max(x.shape) * (root * x).norm().item()
    W = model.minimum(root * (x - x_mean), root * (y - y_mean), rounding).T
    model.weight.copy_(W)
    if model.bias is not None:
        model.bias.copy_(y_mean - W @ x_mean)

"""Regression by networks, in the units of the targets.

    f(x) = c + d ⊙ mean over the networks of g(x)

c and d are the mean and standard deviation of each target, so that g learns numbers of order one;
learning rate, tolerance and penalty do not depend on the unit of the targets.
"""

from typing import Any

import numpy as np
import torch
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from chainrule.estimators.base import counted, estimator, example_weights
from chainrule.estimators.members import Arrays
from chainrule.estimators.network import NetworkEstimator, Problem, as_tensors
from chainrule.learning.losses import squared


@estimator
class BaseNetworkRegressor(MultiOutputMixin, RegressorMixin, NetworkEstimator):
    """One target (y of one dimension) or several (a column each)."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BaseNetworkRegressor":
        """Train on standardized targets."""
        self._fit_networks(self._problem(X, y, sample_weight))
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """Standardized targets, one output for each."""
        arrays = self._arrays(X, y, sample_weight, first=not self._continues)
        return Problem(arrays, arrays[1].shape[1], squared)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BaseNetworkRegressor":
        """Train for one epoch on this data; the first call sets the scale of the targets."""
        arrays = self._arrays(X, y, sample_weight, first=not hasattr(self, "modules_"))
        self._partial_fit_networks(arrays, arrays[1].shape[1], squared)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions in the units and the shape of the targets."""
        g = torch.stack(self._outputs(X)).mean(0).numpy()
        f = self.target_mean_ + self.target_scale_ * g
        return f[:, 0] if self._one_target else f

    def _arrays(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Arrays:
        """Inputs, standardized targets and weights of the examples whose weight is not zero."""
        self._check_arguments()
        X, y = validate_data(
            self,
            self._rows(X, reset=first),
            y,
            reset=first,
            dtype=self._precision(new=first),
            multi_output=True,
            y_numeric=True,
            accept_sparse="csr" if self._sparse else False,
        )
        weights, x, Y = counted(example_weights(sample_weight, X), X, y.reshape(len(y), -1))
        if first:
            self._one_target = y.ndim == 1
            self.target_mean_, self.target_scale_ = mean_and_std(Y, weights)
        standard = (Y - self.target_mean_) / self.target_scale_
        return as_tensors(weights, x, standard.astype(x.dtype))


def mean_and_std(Y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of every column; a constant column has 1."""
    Y, weights = Y.astype(np.float64), weights.astype(np.float64)
    mean = np.average(Y, axis=0, weights=weights)
    std = np.sqrt(np.average((Y - mean) ** 2, axis=0, weights=weights))
    return mean, np.where(std > 0, std, 1.0)

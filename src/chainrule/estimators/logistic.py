"""Logistic regression for two classes, softmax regression for more, solved by L-BFGS.

    min over W, b of 1/2 ‖W‖² + C Σ_i s_i ℓ_i            b is not penalized, C = ∞: no penalty

The function is convex; L-BFGS (Liu and Nocedal 1989) follows the gradients of the course's models
until the largest falls below `tol`. It minimizes the weighted mean loss, the same problem divided
by C Σ s.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from chainrule.arguments import Count, NonNegative, PositiveOrInfinite
from chainrule.estimators.base import (
    ClassWeight,
    Estimator,
    LinearDecision,
    counted,
    encoded,
    estimator,
    example_weights,
    labeled,
    tensor,
    two_classes_or_more,
    with_class_weight,
)
from chainrule.learning import losses
from chainrule.models import feedforward
from chainrule.training import devices

Linear = feedforward.LogisticRegression | feedforward.SoftmaxRegression


@estimator
class LogisticRegression(LinearDecision, ClassifierMixin, Estimator):
    """Class probabilities from an affine map, in double precision.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticRegression().fit(X, y).score(X, y) > 0.95
    True
    """

    C: PositiveOrInfinite = 1.0
    """Weight of the losses against the penalty; infinity: no penalty."""
    class_weight: ClassWeight = None
    """Weights by class, or "balanced"."""
    max_iter: Count = 1000
    """Largest number of L-BFGS steps."""
    tol: NonNegative = 1e-8
    """Stop when no component of the gradient is larger."""
    warm_start: bool = False
    """Whether `fit` starts from the weights of the last call."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LogisticRegression":
        """Minimize the penalized loss."""
        X, y = labeled(self, X, y, np.float64)
        classes = np.unique(y)
        two_classes_or_more(classes)
        labels = encoded(y, classes)
        weights = with_class_weight(
            example_weights(sample_weight, X), self.class_weight, labels, classes
        )
        weights, x, labels = counted(weights, X, labels)
        if not (self.warm_start and np.array_equal(getattr(self, "classes_", ()), classes)):
            self.module_ = model_for(len(classes), x.shape[1])
        self.classes_ = classes
        objective = penalized_loss(
            self.module_, tensor(x), tensor(labels), tensor(weights), float(self.C)
        )
        with devices.prepared(torch.device("cpu"), devices.threads_for(self.module_, len(x))):
            self.n_iter_ = to_the_minimum(self.module_, objective, self.max_iter, self.tol)
        self.coef_ = np.atleast_2d(self.module_.weight.numpy(force=True))
        self.intercept_ = np.atleast_1d(self.module_.bias.numpy(force=True))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(y = k | x), one column per class."""
        z = self.decision_function(X)
        return np.column_stack([expit(-z), expit(z)]) if z.ndim == 1 else softmax(z, axis=1)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """log P(y = k | x)."""
        return np.log(self.predict_proba(X))


def model_for(classes: int, inputs: int) -> Linear:
    """One logit for two classes, K logits for more; all weights start at zero."""
    if classes == 2:
        return feedforward.LogisticRegression(inputs).double()
    return feedforward.SoftmaxRegression(inputs, classes).double()


def penalized_loss(
    model: Linear, x: Tensor, y: Tensor, s: Tensor, C: float
) -> Callable[[], Tensor]:
    """Σ s ℓ / Σ s + ‖W‖² / (2 C Σ s) at the current weights."""
    two = isinstance(model, feedforward.LogisticRegression)
    loss, total = losses.logistic if two else losses.cross_entropy, s.sum()
    return lambda: s @ loss(model(x), y) / total + model.weight.square().sum() / (2 * C * total)


def to_the_minimum(
    model: Linear, objective: Callable[[], Tensor], max_iter: int, tol: float
) -> int:
    """Move the model's weights to the minimum of the objective; returns the number of steps."""
    parameters = list(model.parameters())

    def value_and_gradient(v: np.ndarray) -> tuple[float, np.ndarray]:
        vector_to_parameters(tensor(v), parameters)
        f = objective()
        return f.item(), parameters_to_vector(torch.autograd.grad(f, parameters)).numpy()

    found = minimize(
        value_and_gradient,
        parameters_to_vector(parameters).numpy(force=True),
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0, "maxls": 50},
    )
    vector_to_parameters(tensor(found.x), parameters)
    if found.nit >= max_iter:
        warnings.warn(
            f"the minimum was not reached in max_iter={max_iter} steps; scale the inputs or allow "
            "more",
            ConvergenceWarning,
            stacklevel=3,
        )
    return max(found.nit, 1)

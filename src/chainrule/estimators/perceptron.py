"""The perceptron for any number of classes, with all mistakes of a pass corrected at once.

    z = W x + b;   x of class y is a mistake if some rival j ≠ y has z_j ≥ z_y
    W_y ← W_y + s x,   W_j ← W_j - s x / #rivals      for every mistake, weight s
    b_y ← b_y + s R²,  b_j ← b_j - s R² / #rivals     R = max ‖x‖

For two classes W_1 = -W_0, and this is algorithm 1 of J 1.2 but for two things. The corrections of
a pass are added up before they act: neither the order of the examples matters nor whether one of
them has weight k or stands there k times. And b moves by R² in place of 1, so that the unit of x
does not matter (Cristianini and Shawe-Taylor 2000, table 2.1). The weights with the fewest mistakes
are kept, as in Gallant's pocket (1990): on data that cannot be separated they never settle.

Rosenblatt (1958), Psychological Review 65; several classes: Crammer and Singer (2003), JMLR 3.
"""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import unique_labels

from chainrule.arguments import Count
from chainrule.estimators.base import (
    ClassWeight,
    Estimator,
    LinearDecision,
    counted,
    encoded,
    estimator,
    example_weights,
    labeled,
    two_classes_or_more,
    with_class_weight,
)


@estimator
class PerceptronClassifier(LinearDecision, ClassifierMixin, Estimator):
    """A linear classifier that learns from its mistakes, deterministically.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> PerceptronClassifier().fit(X[:100], y[:100]).score(X[:100], y[:100])
    1.0
    """

    max_iter: Count = 1000
    """Largest number of passes over the data."""
    n_iter_no_change: Count = 100
    """Stop after this many passes without fewer mistakes."""
    fit_intercept: bool = True
    """Whether to fit an intercept b."""
    class_weight: ClassWeight = None
    """Weights by class, or "balanced"."""
    warm_start: bool = False
    """Whether `fit` starts from the weights of the last call."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "PerceptronClassifier":
        """Pass over the data until there are no mistakes or no more improvement."""
        X, y = labeled(self, X, y, np.float64)
        classes = np.unique(y)
        two_classes_or_more(classes)
        again = self.warm_start and np.array_equal(getattr(self, "classes_", ()), classes)
        self.classes_ = classes
        s, z, labels = self._examples(X, y, sample_weight)
        self.radius_ = radius(z)
        self._keep(self._pocket(self._weights() if again else self._zero(), s, z, labels))
        return self

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "PerceptronClassifier":
        """One pass over this data; the first call needs all `classes`.

        There is no pocket here: mistakes on different data cannot be compared.
        """
        first = not hasattr(self, "coef_")
        if first and classes is None:
            raise ValueError(
                "the first call of partial_fit needs classes=[...], all classes of the data"
            )
        X, y = labeled(self, X, y, np.float64, reset=first)
        if first:
            self.classes_ = unique_labels(classes)
            two_classes_or_more(self.classes_)
        s, z, labels = self._examples(X, y, sample_weight)
        if first:
            self.radius_ = radius(z)
        V = self._zero() if first else self._weights()
        self._keep(V + corrections(V, z, labels, s, self.radius_)[0])
        return self

    def _examples(self, X: np.ndarray, y: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, ...]:
        """Weights, inputs with a last column for b, and labels, without examples of weight zero."""
        labels = encoded(y, self.classes_)
        weights = example_weights(sample_weight, X)
        weights = with_class_weight(weights, self.class_weight, labels, self.classes_)
        one = np.full((len(X), 1), float(self.fit_intercept))
        return counted(weights, np.hstack([X, one]), labels)

    def _pocket(self, V: np.ndarray, s: np.ndarray, z: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The weights with the fewest mistakes on the way."""
        best, fewest, since = V, np.inf, 0
        for number in range(1, self.max_iter + 1):
            step, mistakes = corrections(V, z, y, s, self.radius_)
            if mistakes < fewest:
                best, fewest, since = V, mistakes, number
            if mistakes == 0 or number - since >= self.n_iter_no_change:
                break
            V = V + step
        self.n_iter_ = number
        return best

    def _zero(self) -> np.ndarray:
        return np.zeros((len(self.classes_), self.n_features_in_ + 1))

    def _weights(self) -> np.ndarray:
        """(W, b), a row per class."""
        v = np.column_stack([self.coef_, self.intercept_])
        return np.vstack([-v, v]) if len(self.classes_) == 2 else v

    def _keep(self, V: np.ndarray) -> None:
        """Store W and b; for two classes, the row of the second."""
        V = V[1:] if len(self.classes_) == 2 else V
        self.coef_, self.intercept_ = V[:, :-1].copy(), V[:, -1].copy()


def radius(z: np.ndarray) -> float:
    """R = max ‖x‖ over the rows (x, 1); one if all are zero."""
    return float(np.linalg.norm(z[:, :-1], axis=1).max()) or 1.0


def corrections(
    V: np.ndarray, z: np.ndarray, y: np.ndarray, s: np.ndarray, R: float
) -> tuple[np.ndarray, float]:
    """What a pass adds to V = (W, b), and the weight of its mistakes."""
    scores = z @ V.T
    rows = np.arange(len(y))
    rivals = scores >= scores[rows, y][:, None]
    rivals[rows, y] = False
    number = rivals.sum(1)
    wrong = number > 0
    T = rivals / -np.maximum(number, 1.0)[:, None]
    T[rows, y] = wrong
    step = (s[:, None] * T).T @ z
    step[:, -1] *= R**2
    return step, float(s[wrong].sum())

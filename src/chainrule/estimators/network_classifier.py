"""Classification by networks: one logit per class, probabilities averaged over the networks."""

from typing import Any

import numpy as np
import torch
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import unique_labels

from chainrule.estimators.base import (
    ClassWeight,
    counted,
    encoded,
    estimator,
    example_weights,
    labeled,
    with_class_weight,
)
from chainrule.estimators.members import Arrays
from chainrule.estimators.network import NetworkEstimator, Problem, as_tensors
from chainrule.learning.losses import cross_entropy


@estimator
class BaseNetworkClassifier(ClassifierMixin, NetworkEstimator):
    """P(y = k | x) = mean over the networks of softmax(f(x))_k."""

    class_weight: ClassWeight = None
    """Weights by class, or "balanced"."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "BaseNetworkClassifier":
        """Train on labels of any type."""
        self._fit_networks(self._problem(X, y, sample_weight))
        return self

    def _problem(self, X: Any, y: Any, sample_weight: Any = None) -> Problem:
        """Class indices, one output for each class."""
        X = self._rows(X, reset=True)
        X, y = labeled(self, X, y, self._precision(new=not self._continues), sparse=self._sparse)
        self._note_classes(np.unique(y))
        return Problem(self._arrays(X, y, sample_weight), len(self.classes_), cross_entropy)

    def _note_classes(self, classes: np.ndarray) -> None:
        """Keep the classes; a warm start must have the same ones."""
        if self._continues and not np.array_equal(self.classes_, classes):
            raise ValueError(
                f"warm_start=True continues with the classes {self.classes_}, but y has {classes}"
            )
        self.classes_: np.ndarray = classes

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> "BaseNetworkClassifier":
        """Train for one epoch on this data; the first call needs all `classes`."""
        first = not hasattr(self, "modules_")
        self._check_partial_fit(first, classes)
        X = self._rows(X, reset=first)
        X, y = labeled(self, X, y, self._precision(new=first), first, self._sparse)
        if first:
            self.classes_ = unique_labels(classes)
        arrays = self._arrays(X, y, sample_weight)
        self._partial_fit_networks(arrays, len(self.classes_), cross_entropy)
        return self

    def _check_partial_fit(self, first: bool, classes: Any) -> None:
        if first and classes is None:
            raise ValueError(
                "the first call of partial_fit needs classes=[...], all classes of the data"
            )
        if self.class_weight == "balanced":
            raise ValueError(
                "partial_fit cannot balance classes it has not seen; pass class_weight as a dict"
            )

    def predict_proba(self, X: Any) -> np.ndarray:
        """One column of probabilities per class."""
        return torch.stack([f.softmax(1) for f in self._outputs(X)]).mean(0).numpy()

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class."""
        best = self.predict_proba(X).argmax(1)
        return self.classes_[best]

    def _arrays(self, X: Any, y: np.ndarray, sample_weight: Any) -> Arrays:
        """Inputs, class indices and weights of the examples whose weight is not zero."""
        labels = encoded(y, self.classes_)
        weights = example_weights(sample_weight, X)
        weights = with_class_weight(weights, self.class_weight, labels, self.classes_)
        return as_tensors(*counted(weights, X, labels))

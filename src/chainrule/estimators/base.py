"""The base of all estimators: constructors, example and class weights, linear decisions.

An estimator is a dataclass: its fields are the constructor's arguments, which `get_params`, `clone`
and the searches read. scikit-learn wants constructors to accept anything and `fit` to check it.
"""

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor

from chainrule.arguments import check

FLOATS = (np.float64, np.float32)
ClassWeight = dict[Any, Any] | str | None
Class = TypeVar("Class")


@dataclass_transform(kw_only_default=True, eq_default=False)
def estimator(cls: type[Class]) -> type[Class]:
    """A dataclass that leaves equality and the printed form to scikit-learn."""
    return dataclass(kw_only=True, eq=False, repr=False)(cls)


class Estimator(BaseEstimator):
    """scikit-learn's base class; its constructors are exempt from type checks in tests."""

    __no_type_check__ = True

    def _check_arguments(self) -> None:
        """Refuse arguments of the constructor that the fields rule out; `fit` calls it first."""
        for field in fields(self):
            check(type(self), field.name, field.type, getattr(self, field.name))


class LinearDecision:
    """Classification by the scores W x + b; for two classes, by the sign of one score."""

    coef_: np.ndarray
    intercept_: np.ndarray
    classes_: np.ndarray

    def decision_function(self, X: Any) -> np.ndarray:
        """W x + b: one column per class, or for two classes the score of the second."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        scores = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class with the highest score."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]


def labeled(
    self: Estimator, X: Any, y: Any, dtype: Any, reset: bool = True, sparse: bool = False
) -> tuple[Any, np.ndarray]:
    """X and y as arrays, X as it is where it may be sparse; refuses what are not classes."""
    self._check_arguments()
    form = "csr" if sparse else False
    X, y = validate_data(self, X, y, dtype=dtype, reset=reset, accept_sparse=form)
    check_classification_targets(y)
    return X, y


def encoded(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class index of every label."""
    unknown = np.setdiff1d(y, classes)
    if len(unknown):
        raise ValueError(f"y has the labels {unknown}, which are not among the classes {classes}")
    return np.searchsorted(classes, y)


def two_classes_or_more(classes: np.ndarray) -> None:
    """Refuse data of a single class."""
    if len(classes) < 2:
        raise ValueError(f"expected at least two classes, got one class: {classes[0]!r}")


def example_weights(sample_weight: Any, X: Any) -> np.ndarray:
    """One weight per example, none negative, in the precision of X."""
    return _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)


def with_class_weight(
    weights: np.ndarray, class_weight: ClassWeight, labels: np.ndarray, classes: np.ndarray
) -> np.ndarray:
    """Weights times those of their classes; balanced: w_k = Σ w / (K Σ_{y = k} w)."""
    if class_weight == "balanced":
        counts = np.bincount(labels, weights, minlength=len(classes))
        each = weights.sum() / (np.count_nonzero(counts) * np.where(counts > 0, counts, np.inf))
    else:
        each = compute_class_weight(class_weight, classes=classes, y=classes)
    return weights * each[labels].astype(weights.dtype)


def counted(weights: np.ndarray, *arrays: Any) -> tuple[Any, ...]:
    """Weights and arrays without the examples of weight zero."""
    kept = weights > 0
    if not kept.any():
        raise ValueError("every example has weight zero; look at sample_weight and class_weight")
    return weights[kept], *(a[kept] for a in arrays)


def tensor(array: np.ndarray, dtype: torch.dtype | None = None) -> Tensor:
    """A copy: scikit-learn's arrays may be read-only, or views with negative strides."""
    return torch.tensor(np.ascontiguousarray(array), dtype=dtype)

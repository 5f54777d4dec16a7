"""Ensembles: networks from different initial weights, and the mean of their predictions.

The squared error and the cross-entropy of the mean are at most the mean of the members' errors:
both are convex (Krogh and Vedelsby 1995; Lakshminarayanan et al. 2017).
"""

from chainrule.arguments import Count
from chainrule.estimators.base import estimator
from chainrule.estimators.mlp import Perceptrons
from chainrule.estimators.network_classifier import BaseNetworkClassifier
from chainrule.estimators.network_regressor import BaseNetworkRegressor


@estimator
class Ensemble(Perceptrons):
    """Several networks trained on the same data."""

    n_estimators: Count = 5
    """Number of networks."""

    @property
    def _members(self) -> int:
        return self.n_estimators


@estimator
class EnsembleClassifier(Ensemble, BaseNetworkClassifier):
    """Multi-layer perceptrons whose probabilities are averaged.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = EnsembleClassifier(n_estimators=3, max_iter=20, random_state=0).fit(X, y)
    >>> len(model.modules_), model.predict_proba(X[:2]).shape
    (3, (2, 3))
    """


@estimator
class EnsembleRegressor(Ensemble, BaseNetworkRegressor):
    """Multi-layer perceptrons whose predictions are averaged.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = EnsembleRegressor(n_estimators=3, max_iter=20, random_state=0).fit(X, y)
    >>> len(model.modules_), model.predict(X[:2]).shape
    (3, (2,))
    """

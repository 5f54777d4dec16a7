"""Ensembles: networks from different random starts, and the mean of what they say.

The squared error and the cross-entropy of the mean are at most the mean of the members' errors:
both are convex (Krogh and Vedelsby 1995; Lakshminarayanan et al. 2017).
"""

from chainrule.estimators.base import estimator
from chainrule.estimators.classifying import NetworkClassifier
from chainrule.estimators.network import NetworkEstimator
from chainrule.estimators.regressing import NetworkRegressor


@estimator
class Ensemble(NetworkEstimator):
    """Several members, trained on the same data."""

    n_estimators: int = 5
    """How many networks there are."""

    @property
    def _members(self) -> int:
        return self.n_estimators


@estimator
class EnsembleClassifier(Ensemble, NetworkClassifier):
    """Multi-layer perceptrons whose probabilities are averaged."""


@estimator
class EnsembleRegressor(Ensemble, NetworkRegressor):
    """Multi-layer perceptrons whose predictions are averaged."""

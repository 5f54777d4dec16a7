"""Every estimator passes all of scikit-learn's own checks; none is expected to fail."""

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from chainrule import estimators

SLOW = ("CNN", "Ensemble", "GCN", "Network", "RNN", "Transformer")
NAMES = [name for name in estimators.__all__ if not name.startswith(SLOW)]
QUICK = {"learning_rate_init": 0.01, "max_iter": 30}
FAST = QUICK | {"learning_rate_init": 0.05}  # regressors must reach r² 0.5
FEW = {"n_estimators": 2, "learning_rate_init": 0.01, "max_iter": 50}  # several are slow
ALL = [
    *(getattr(estimators, name)() for name in NAMES),
    estimators.EnsembleClassifier(**FEW),
    estimators.EnsembleRegressor(**FEW),
    estimators.NetworkClassifier(nn.Linear, **QUICK),
    estimators.NetworkRegressor(nn.Linear, **FAST),
    estimators.CNNClassifier(filters=(4,), **QUICK),
    estimators.RNNClassifier(hidden_size=8, **QUICK),
    estimators.RNNRegressor(steps=1, hidden_size=16, **FAST),
    estimators.TransformerClassifier(hidden_size=8, **QUICK),
    estimators.TransformerRegressor(steps=1, hidden_size=16, **QUICK),
    estimators.GCNClassifier(**FAST),
]


@parametrize_with_checks(ALL)
def test_scikit_learn_s_checks(estimator: BaseEstimator, check: Callable) -> None:
    check(estimator)

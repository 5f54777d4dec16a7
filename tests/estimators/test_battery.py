"""Every estimator passes all of scikit-learn's own checks; none is expected to fail."""

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from chainrule import estimators

NAMES = [name for name in estimators.__all__ if not name.startswith("Ensemble")]
FEW = {"n_estimators": 2, "learning_rate_init": 0.01, "max_iter": 50}  # several are slow
ALL = [
    *(getattr(estimators, name)() for name in NAMES),
    estimators.EnsembleClassifier(**FEW),
    estimators.EnsembleRegressor(**FEW),
]


@parametrize_with_checks(ALL)
def test_scikit_learn_s_checks(estimator: BaseEstimator, check: Callable) -> None:
    check(estimator)

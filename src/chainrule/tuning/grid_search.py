"""Grid search with scikit-learn's interface, which trains all candidates on all folds at once.

    GridSearchCV(MLPClassifier(), {"learning_rate_init": [1e-3, 1e-2]}, cv=5).fit(X, y)

Candidates that differ in learning rate, weight decay, dropout or seed share one batched program
with all their folds; others, such as those of another width, have one program each. The first steps
of a pipeline, such as a StandardScaler, are fitted once for each fold. What cannot be trained so,
such as settings of these steps or several scores at once, is searched as scikit-learn does.
Notes: L "Tuning and model selection".
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn import model_selection
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

Candidate = Mapping[str, Any]


class GridSearchCV(model_selection.GridSearchCV):
    """scikit-learn's GridSearchCV; networks of this library are trained together.

    Args:
        estimator: of `chainrule.estimators`, or any other.
        param_grid: lists of values by parameter, or several such grids.
        others: as scikit-learn's: scoring, cv, refit, …

    >>> from sklearn.datasets import load_iris
    >>> from chainrule.estimators import MLPClassifier
    >>> grid = {"learning_rate_init": [1e-4, 1e-2]}
    >>> search = GridSearchCV(MLPClassifier(max_iter=20, random_state=0), grid, cv=3)
    >>> search.fit(*load_iris(return_X_y=True)).best_params_
    {'learning_rate_init': 0.01}
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> "GridSearchCV":
        """Train every candidate on every fold, score them, and refit the best one on all data."""
        one_score = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        candidates = list(ParameterGrid(self.param_grid))
        together = hasattr(last_step(self.estimator), "_fit_many") and one_score
        own = all(name.startswith(prefix(self.estimator)) for each in candidates for name in each)
        if not (together and own) or self.return_train_score or params:
            return super().fit(X, y, **params)
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = list(cv.split(X, y))
        try:
            began = time.perf_counter()
            fitted = self._fit_all(X, y, candidates, [rows for rows, _ in folds])
            seconds = (time.perf_counter() - began) / len(fitted)
        except ValueError:  # one of them cannot be trained: scikit-learn says which, or scores it
            return super().fit(X, y)
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        self.multimetric_, self.n_splits_ = False, len(folds)
        scores, times = self._scores(fitted, X, y, [held for _, held in folds])
        self.cv_results_ = results(candidates, scores, np.full(scores.shape, seconds), times)
        self._choose(X, y)
        return self

    def _fit_all(
        self, X: Any, y: Any, candidates: Sequence[Candidate], folds: Sequence[np.ndarray]
    ) -> list[Any]:
        """The fitted estimators: all folds of the first candidate, then of the next, …"""
        whole = [
            clone(self.estimator).set_params(**clone(candidate, safe=False))
            for candidate in candidates
            for _ in folds
        ]
        data = []
        for place, rows in enumerate(folds):
            x, target = _safe_indexing(X, rows), _safe_indexing(y, rows)
            if isinstance(whole[place], Pipeline) and (first := whole[place][:-1]).steps:
                x = first.fit_transform(x, target)
                for other in whole[place :: len(folds)]:
                    other.steps[:-1] = first.steps
            data.append((x, target))
        networks = [last_step(one) for one in whole]
        networks[0]._fit_many(networks, data * len(candidates))
        return whole

    def _scores(
        self, fitted: Sequence[Any], X: Any, y: Any, folds: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """(candidates, folds): the score of each estimator on its held-out rows, and the time."""
        held = [(_safe_indexing(X, rows), _safe_indexing(y, rows)) for rows in folds]
        scores, times = [], []
        for place, estimator in enumerate(fitted):
            began = time.perf_counter()
            scores.append(self.scorer_(estimator, *held[place % len(folds)]))
            times.append(time.perf_counter() - began)
        shape = -1, len(folds)
        return np.reshape(scores, shape), np.reshape(times, shape)

    def _choose(self, X: Any, y: Any) -> None:
        """The best candidate, fitted on all data if that is wanted."""
        found = self.cv_results_
        chosen = self.refit(found) if callable(self.refit) else found["rank_test_score"].argmin()
        self.best_index_ = int(chosen)
        self.best_params_ = found["params"][self.best_index_]
        if not callable(self.refit):
            self.best_score_ = found["mean_test_score"][self.best_index_]
        if self.refit:
            best = clone(self.best_params_, safe=False)
            self.best_estimator_ = clone(self.estimator).set_params(**best)
            began = time.perf_counter()
            self.best_estimator_.fit(X, y)
            self.refit_time_ = time.perf_counter() - began
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_


def last_step(estimator: Any) -> Any:
    """The network of a pipeline; anything else is itself."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def prefix(estimator: Any) -> str:
    """How the names of its settings begin in a grid."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""


def results(
    candidates: Sequence[Candidate], scores: np.ndarray, fit: np.ndarray, score: np.ndarray
) -> dict[str, Any]:
    """A row per candidate, in scikit-learn's columns."""
    found: dict[str, Any] = {}
    for name, times in (("fit_time", fit), ("score_time", score)):
        found[f"mean_{name}"], found[f"std_{name}"] = times.mean(1), times.std(1)
    for name in sorted({name for candidate in candidates for name in candidate}):
        column = np.ma.masked_all(len(candidates), dtype=object)
        for row, candidate in enumerate(candidates):
            if name in candidate:
                column[row] = candidate[name]
        found[f"param_{name}"] = column
    found["params"] = list(candidates)
    found |= {f"split{k}_test_score": column for k, column in enumerate(scores.T)}
    mean = scores.mean(1)
    found |= {"mean_test_score": mean, "std_test_score": scores.std(1)}
    ranks = rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min")
    found["rank_test_score"] = ranks.astype(np.int32)
    return found

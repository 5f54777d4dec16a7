"""The linear estimators against scikit-learn's own."""

import pickle
import warnings

import numpy as np
import pytest
import torch
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from chainrule.estimators import (
    LinearRegression,
    LogisticRegression,
    PerceptronClassifier,
    RidgeRegression,
)
from chainrule.models.connectionism.perceptron import in_version_space

PAIRS = [
    (LinearRegression(), linear_model.LinearRegression()),
    (LinearRegression(fit_intercept=False), linear_model.LinearRegression(fit_intercept=False)),
    (RidgeRegression(alpha=0.3), linear_model.Ridge(alpha=0.3)),
    (RidgeRegression(fit_intercept=False), linear_model.Ridge(fit_intercept=False)),
]


@pytest.fixture(scope="module")
def diabetes() -> tuple[np.ndarray, np.ndarray]:
    return load_diabetes(return_X_y=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_closed_forms_agree_with_scikit_learn_to_rounding(
    ours: LinearRegression,
    theirs: linear_model.LinearRegression,
    weighted: bool,
    diabetes: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = diabetes
    Y = np.column_stack([y, np.sin(y)])
    weights = np.random.default_rng(0).uniform(0, 3, len(y)) if weighted else None
    for target in (y, Y):
        ours.fit(X, target, sample_weight=weights)
        theirs.fit(X, target, sample_weight=weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)


def test_rounding_far_from_zero_is_not_taken_for_information() -> None:
    draw = np.random.default_rng(0)
    x, noise, weights = draw.normal(size=50), draw.normal(size=50), draw.uniform(1, 2, 50)
    copy = x + 1e8  # its last digits are rounding errors
    model = LinearRegression().fit(np.column_stack([x, copy]), 3 * x + 0.1 * noise, weights)
    np.testing.assert_allclose(model.coef_, [1.5, 1.5], atol=0.1)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("options", [{}, {"C": 0.01}, {"class_weight": "balanced"}])
def test_logistic_regression_reaches_scikit_learn_s_minimum(load: object, options: dict) -> None:
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    ours = LogisticRegression(**options).fit(X, y, weights)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=5000, **options)
    theirs.fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_without_a_penalty_it_agrees_too() -> None:
    X, y = make_blobs(100, centers=3, cluster_std=4.0, random_state=0)
    ours = LogisticRegression(C=np.inf).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_too_few_steps_are_reported_and_a_warm_start_uses_the_ones_made() -> None:
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression(max_iter=3)
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model.fit(X, y)
    cold = LogisticRegression().fit(X, y)
    warm = model.set_params(max_iter=1000).fit(X, y).set_params(warm_start=True).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_ / 4
    with pytest.raises(ValueError, match="`C` must be a number above 0"):
        LogisticRegression(C=0).fit(X, y)


def test_a_search_over_the_penalty_runs_in_a_pipeline() -> None:
    X, y = load_wine(return_X_y=True)
    names = np.array(["red", "white", "rosé"])[y]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [1e-4, 1.0]}, cv=3).fit(X, names)
    assert search.best_params_ == {"logisticregression__C": 1.0}
    assert search.score(X, names) > 0.97
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


def test_the_perceptron_ends_in_the_version_space() -> None:
    X, y = make_blobs(60, centers=[[0, 0], [5, 5]], random_state=0)
    model = PerceptronClassifier().fit(X, y)
    assert model.score(X, y) == 1
    w, b = torch.tensor(model.coef_[0]), torch.tensor(model.intercept_[0])
    assert in_version_space(w, b, torch.tensor(X), torch.tensor(2.0 * y - 1))


@pytest.mark.parametrize("classes", [2, 3])
def test_passes_one_by_one_are_the_perceptron_s_own(classes: int) -> None:
    X, y = make_blobs(60, centers=classes, cluster_std=0.8, random_state=2)
    model = PerceptronClassifier().fit(X, y)
    assert model.n_iter_ > 2, "the data must cost some passes"
    parts = PerceptronClassifier()
    for _ in range(model.n_iter_ - 1):  # the last pass of `fit` found no mistake
        parts.partial_fit(X, y, classes=np.arange(classes))
    np.testing.assert_allclose(parts.coef_, model.coef_)
    np.testing.assert_allclose(parts.intercept_, model.intercept_)


def test_the_unit_of_the_inputs_does_not_matter_to_the_perceptron() -> None:
    X, y = make_blobs(100, centers=3, cluster_std=2.0, random_state=0)
    np.testing.assert_array_equal(
        PerceptronClassifier().fit(X, y).predict(X),
        PerceptronClassifier().fit(X * 1024, y).predict(X * 1024),
    )


def test_the_pocket_keeps_the_best_weights_on_data_that_overlap() -> None:
    X, y = make_blobs(200, centers=[[0, 0], [2, 2]], random_state=0)
    walk, scores = PerceptronClassifier(), []
    for _ in range(29):
        scores.append(walk.partial_fit(X, y, classes=[0, 1]).score(X, y))
    pocket = PerceptronClassifier(max_iter=30).fit(X, y)
    assert pocket.score(X, y) == max(scores) > scores[-1]
    warm = PerceptronClassifier(max_iter=1, warm_start=True)
    warm.classes_, warm.coef_, warm.intercept_ = pocket.classes_, pocket.coef_, pocket.intercept_
    np.testing.assert_array_equal(warm.fit(X, y).coef_, pocket.coef_)


@pytest.mark.parametrize("kind", [PerceptronClassifier, LogisticRegression])
def test_one_class_is_no_task(kind: type) -> None:
    with pytest.raises(ValueError, match="two classes"):
        kind().fit([[0.0], [1.0]], ["a", "a"])

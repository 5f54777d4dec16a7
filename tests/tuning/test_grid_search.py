"""Our GridSearchCV finds what scikit-learn's finds with the same estimators."""

from typing import Any

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.datasets import load_iris, make_regression
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from chainrule.estimators import MLPClassifier, MLPRegressor
from chainrule.training.batched import loop
from chainrule.tuning import GridSearchCV

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)
NAMES = np.array(["a", "b", "c"])[Y]
RATES = {"learning_rate_init": [1e-3, 3e-2], "weight_decay": [0.0, 0.1]}


def both(estimator: Any, grid: Any, x: Any = X, y: Any = NAMES, **options: Any) -> tuple[Any, Any]:
    options = {"cv": 3} | options
    return (
        GridSearchCV(estimator, grid, **options).fit(x, y),
        model_selection.GridSearchCV(estimator, grid, **options).fit(x, y),
    )


def assert_same(ours: Any, theirs: Any) -> None:
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name, column in theirs.cv_results_.items():
        if name.startswith(("split", "mean_test", "std_test", "rank")):
            np.testing.assert_allclose(ours.cv_results_[name], column, atol=1e-6, err_msg=name)
    assert (ours.best_index_, ours.best_params_) == (theirs.best_index_, theirs.best_params_)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-6)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many networks each batched program had."""
    programs: list[int] = []
    start = loop.BatchedTrainer.__init__

    def counted(self: Any, models: Any, batched: Any) -> None:
        programs.append(len(models))
        start(self, models, batched)

    monkeypatch.setattr(loop.BatchedTrainer, "__init__", counted)
    return programs


def test_a_classifier(one_by_one: list[int]) -> None:
    network = MLPClassifier(hidden_layer_sizes=(8,), max_iter=6, random_state=0)
    ours, theirs = both(network, RATES)
    assert one_by_one == [12]
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    assert ours.score(X, NAMES) == theirs.score(X, NAMES)


def test_every_network_stops_when_its_own_loss_is_flat() -> None:
    network = MLPClassifier(
        hidden_layer_sizes=(4,), max_iter=30, tol=5e-3, n_iter_no_change=2, random_state=0
    )
    fits = [
        network.__class__(**network.get_params() | {"learning_rate_init": r}) for r in (0.1, 1e-4)
    ]
    alone = [network.__class__(**fit.get_params()).fit(X, NAMES) for fit in fits]
    network._fit_many(fits, [(X, NAMES)] * 2)
    assert [fit.n_iter_ for fit in fits] == [one.n_iter_ for one in alone]
    assert len({fit.n_iter_ for fit in fits}) == 2
    for fit, one in zip(fits, alone, strict=True):
        np.testing.assert_allclose(fit.predict_proba(X), one.predict_proba(X), atol=1e-6)


def test_a_regressor_whose_targets_are_scaled_in_each_fold() -> None:
    x, y = make_regression(60, 4, random_state=0)
    network = MLPRegressor(hidden_layer_sizes=(8,), max_iter=5, random_state=0)
    ours, theirs = both(network, RATES, x, 1e3 + 50 * y, scoring="neg_mean_absolute_error")
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=1e-5)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize(
    "options", [{"early_stopping": True}, {"class_weight": "balanced"}, {"dropout": 0.2}]
)
def test_options_of_the_estimator_are_honored(
    options: dict[str, Any], one_by_one: list[int]
) -> None:
    network = MLPClassifier(hidden_layer_sizes=(8,), max_iter=4, random_state=0, **options)
    ours, theirs = both(network, {"learning_rate_init": [1e-3, 3e-2]}, X[20:], NAMES[20:])
    assert one_by_one == [6]
    assert_same(ours, theirs)


def test_networks_of_another_shape_have_a_program_of_their_own(one_by_one: list[int]) -> None:
    network = MLPClassifier(max_iter=3, random_state=0)
    grid = [{"hidden_layer_sizes": [(4,), (6,)]}, {"activation": ["tanh"], "weight_decay": [0.1]}]
    ours, theirs = both(network, grid)
    assert one_by_one == [3, 3, 3]
    assert_same(ours, theirs)
    assert ours.cv_results_["param_activation"].mask.tolist() == [True, True, False]


def test_the_first_steps_of_a_pipeline_are_fitted_on_the_rows_of_each_fold(
    one_by_one: list[int],
) -> None:
    network = MLPClassifier(hidden_layer_sizes=(8,), max_iter=6, random_state=0)
    grid = {f"mlpclassifier__{name}": values for name, values in RATES.items()}
    pipeline = make_pipeline(PCA(3), StandardScaler(), network)
    ours, theirs = both(pipeline, grid, 5 + 100 * X)
    assert one_by_one == [12]
    assert_same(ours, theirs)
    np.testing.assert_array_equal(ours.predict(5 + 100 * X), theirs.predict(5 + 100 * X))
    alone, _ = both(make_pipeline(network), grid)
    assert one_by_one == [12, 12]
    assert alone.best_params_.keys() == grid.keys()


@pytest.mark.parametrize(
    ("estimator", "grid", "options"),
    [
        (
            make_pipeline(StandardScaler(), MLPClassifier(max_iter=2, random_state=0)),
            {"standardscaler__with_std": [False, True]},
            {},
        ),
        (
            MLPClassifier(max_iter=2, random_state=0),
            {"weight_decay": [0.0, 0.1]},
            {"scoring": ["accuracy", "f1_macro"], "refit": "accuracy"},
        ),
        (
            MLPClassifier(max_iter=2, random_state=0),
            {"weight_decay": [0.0, 0.1]},
            {"return_train_score": True},
        ),
    ],
)
def test_what_cannot_be_trained_together_is_searched_as_scikit_learn_does(
    estimator: Any, grid: Any, options: dict[str, Any], one_by_one: list[int]
) -> None:
    ours, theirs = both(estimator, grid, **options)
    assert one_by_one == []
    assert ours.best_params_ == theirs.best_params_
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()


def test_refit_may_be_left_out_or_decide() -> None:
    network = MLPClassifier(hidden_layer_sizes=(4,), max_iter=2, random_state=0)
    search = GridSearchCV(network, {"weight_decay": [0.0, 0.1]}, cv=3, refit=False).fit(X, Y)
    assert not hasattr(search, "best_estimator_") and search.best_index_ in (0, 1)
    search = GridSearchCV(network, {"weight_decay": [0.0, 0.1]}, cv=3, refit=lambda found: 1)
    assert search.fit(X, Y).best_params_ == {"weight_decay": 0.1}
    assert not hasattr(search, "best_score_")


def test_a_value_that_no_fit_takes_gets_scikit_learn_s_error() -> None:
    network = MLPClassifier(max_iter=2)
    with pytest.raises(ValueError, match="`weight_decay` must be a number of at least 0"):
        GridSearchCV(network, {"weight_decay": [-1.0]}, cv=3, error_score="raise").fit(X, Y)

"""Multi-layer perceptrons behind scikit-learn's interface."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import neural_network
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score, recall_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from chainrule.estimators import EnsembleClassifier, MLPClassifier, MLPRegressor
from chainrule.estimators.members import FlatLoss

SMALL = {"hidden_layer_sizes": (16,), "random_state": 0}


@pytest.fixture(scope="module")
def digits() -> list[np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def diabetes() -> list[np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return train_test_split(StandardScaler().fit_transform(X), y, random_state=0)


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(90, centers=3, random_state=0)


def test_digits_are_read_as_well_as_by_scikit_learn(digits: list[np.ndarray]) -> None:
    X, X_test, y, y_test = digits
    theirs = neural_network.MLPClassifier(max_iter=60, random_state=0)
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X, y)
    ours = MLPClassifier(max_iter=60, random_state=0).fit(X, y)
    assert ours.score(X_test, y_test) > theirs.score(X_test, y_test) - 0.01 > 0.95


def test_diabetes_is_predicted_where_the_unit_of_the_target_spoils_scikit_learn_s(
    diabetes: list[np.ndarray],
) -> None:
    X, X_test, y, y_test = diabetes
    theirs = neural_network.MLPRegressor(random_state=0)
    with pytest.warns(ConvergenceWarning):
        theirs.fit(X, y)
    ours = MLPRegressor(max_iter=100, random_state=0).fit(X, y)
    assert ours.score(X_test, y_test) > max(0.3, theirs.score(X_test, y_test))


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_predictions_follow_the_unit_of_the_target(diabetes: list[np.ndarray], unit: float) -> None:
    X, X_test, y, _ = diabetes
    model = MLPRegressor(**SMALL, max_iter=20)
    plain = clone(model).fit(X, y).predict(X_test)
    np.testing.assert_allclose(model.fit(X, y * unit).predict(X_test), plain * unit, rtol=1e-6)


def test_several_targets_have_a_column_each(diabetes: list[np.ndarray]) -> None:
    X, _, y, _ = diabetes
    Y = np.column_stack([y, -1000 * y])
    model = MLPRegressor(**SMALL, learning_rate_init=0.01, max_iter=20).fit(X, Y)
    assert (r2_score(Y, model.predict(X), multioutput="raw_values") > 0.5).all()
    assert MLPRegressor(**SMALL, max_iter=1).fit(X, y[:, None]).predict(X).shape == (len(X), 1)


def test_labels_may_be_strings_and_inputs_a_data_frame(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = blobs
    names = np.array(["pear", "apple", "fig"], dtype=object)[y]
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = MLPClassifier(**SMALL, learning_rate_init=0.01).fit(frame, pd.Series(names))
    assert model.classes_.tolist() == ["apple", "fig", "pear"]
    assert model.feature_names_in_.tolist() == ["width", "height"]
    assert model.n_features_in_ == 2
    assert model.score(frame, names) > 0.8
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"width": "depth"}))


def test_a_search_through_a_pipeline_finds_the_better_width(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = blobs
    pipeline = make_pipeline(StandardScaler(), MLPClassifier(random_state=0, max_iter=30))
    search = GridSearchCV(pipeline, {"mlpclassifier__hidden_layer_sizes": [1, (50,)]}, cv=2)
    search.fit(X, y)
    assert search.best_params_ == {"mlpclassifier__hidden_layer_sizes": (50,)}
    assert search.predict(X).shape == y.shape


@pytest.mark.parametrize("kind", [MLPClassifier, EnsembleClassifier])
def test_partial_fit_is_the_same_as_continuing(
    kind: type, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = blobs
    model = kind(**SMALL, batch_size=20, dropout=0.2, max_iter=4)
    at_once = clone(model).fit(X, y).predict_proba(X)
    for _ in range(2):
        model.partial_fit(X, y, classes=[0, 1, 2])
    model = pickle.loads(pickle.dumps(model))
    for _ in range(2):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), at_once)
    assert model.n_iter_ == 4


def test_partial_fit_takes_parts_in_which_classes_are_missing(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = blobs
    model = MLPClassifier(**SMALL, learning_rate_init=0.01)
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X, y)
    for _ in range(30):
        for label in range(3):
            model.partial_fit(X[y == label], y[y == label], classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (len(X), 3)
    with pytest.raises(ValueError, match="labels"):
        model.partial_fit(X, y + 1)


def test_partial_fit_of_a_regressor_keeps_the_first_scale(diabetes: list[np.ndarray]) -> None:
    X, _, y, _ = diabetes
    model = MLPRegressor(**SMALL, max_iter=2)
    at_once = clone(model).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.partial_fit(X, y).partial_fit(X, y).predict(X), at_once)
    scale = model.target_scale_
    assert model.partial_fit(X, 5 * y).target_scale_ is scale


def test_warm_start_goes_on_and_a_cold_start_begins_again(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = blobs
    model = MLPClassifier(**SMALL, max_iter=20).fit(X, y)
    first = model.loss_curve_[0]
    assert model.fit(X, y).loss_curve_[0] == first
    assert model.set_params(warm_start=True).fit(X, y).loss_curve_[0] < 0.9 * first
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X, y + 1)


def test_early_stopping_ends_sooner_with_the_best_weights(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = blobs
    model = MLPClassifier(
        **SMALL,
        learning_rate_init=0.1,
        early_stopping=True,
        n_iter_no_change=5,
        validation_fraction=0.3,
    ).fit(X, y)
    losses = [record["validation_loss"] for record in model.histories_[0]]
    assert len(losses) < 200
    assert int(np.argmin(losses)) == len(losses) - 6
    with pytest.raises(ValueError, match="early_stopping"):
        model.partial_fit(X, y)


def test_training_stops_where_the_loss_is_flat(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    assert MLPClassifier(**SMALL, tol=10.0, n_iter_no_change=3).fit(X, y).n_iter_ == 4
    rule = FlatLoss(0.5, 2)
    assert [rule.update(loss) for loss in (3.0, 2.0, 1.0, 0.9, 0.8)] == 4 * [False] + [True]


def test_balanced_classes_find_the_rare_one() -> None:
    X, y = make_blobs([200, 12], centers=[[0, 0], [1.5, 1.5]], random_state=0)
    model = MLPClassifier(**SMALL, learning_rate_init=0.01, max_iter=50)
    plain = recall_score(y, clone(model).fit(X, y).predict(X))
    balanced = recall_score(y, model.set_params(class_weight="balanced").fit(X, y).predict(X))
    assert balanced > plain + 0.2


def test_balanced_is_the_same_as_the_weights_it_stands_for(
    blobs: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = blobs[0][5:], blobs[1][5:]
    counts = np.bincount(y)
    by_hand = {k: len(y) / (3 * n) for k, n in enumerate(counts)}
    a = MLPClassifier(**SMALL, max_iter=5, class_weight="balanced").fit(X, y)
    b = MLPClassifier(**SMALL, max_iter=5).fit(X, y, np.array([by_hand[k] for k in y]))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X))


@pytest.mark.parametrize("options", [{"batch_size": 20}, {"early_stopping": True}])
def test_weight_zero_is_the_same_as_removal(
    options: dict, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = blobs
    weights = np.r_[np.zeros(30), np.full(60, 2.0)]
    model = MLPClassifier(**SMALL, **options, max_iter=10)
    removed = clone(model).fit(X[30:], y[30:]).predict_proba(X)
    np.testing.assert_allclose(model.fit(X, y, weights).predict_proba(X), removed, rtol=1e-9)


@pytest.mark.parametrize("seed", [3, np.random.RandomState(3)])
def test_the_random_state_decides(seed: object, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    model = MLPClassifier(hidden_layer_sizes=8, max_iter=3, random_state=seed)
    a, b = clone(model).fit(X, y), clone(model).fit(X, y)
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    other = clone(model).set_params(random_state=4).fit(X, y)
    assert not np.allclose(a.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("kind", [MLPClassifier, MLPRegressor, EnsembleClassifier])
def test_a_pickle_predicts_the_same_and_a_clone_is_empty(
    kind: type, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = blobs
    model = kind(**SMALL, max_iter=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_single_precision_stays_single(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    model = MLPClassifier(**SMALL, max_iter=3).fit(X.astype("float32"), y)
    assert {str(p.dtype) for p in model.module_.parameters()} == {"torch.float32"}
    model.partial_fit(X, y)
    assert {str(p.dtype) for p in model.module_.parameters()} == {"torch.float32"}

"""Ensembles of networks: the mean of what their members say."""

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, make_blobs
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split

from chainrule.estimators import EnsembleClassifier, EnsembleRegressor

SMALL = {"hidden_layer_sizes": (16,), "random_state": 0}


def test_a_classifier_errs_no_more_than_its_members_do_on_average() -> None:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, random_state=0, stratify=y)
    model = EnsembleClassifier(**SMALL, n_estimators=3, max_iter=10).fit(X[:400], y[:400])
    members = [f.softmax(1).numpy() for f in model._outputs(X_test)]
    mean = np.mean([log_loss(y_test, p) for p in members])
    np.testing.assert_allclose(model.predict_proba(X_test), np.mean(members, axis=0))
    assert log_loss(y_test, model.predict_proba(X_test)) < mean


def test_a_regressor_errs_no_more_than_its_members_do_on_average() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(20 * X, y, random_state=0)
    model = EnsembleRegressor(**SMALL, n_estimators=3, max_iter=50).fit(X, y)
    members = [
        model.target_mean_ + model.target_scale_ * g.numpy()[:, 0] for g in model._outputs(X_test)
    ]
    mean = np.mean([mean_squared_error(y_test, f) for f in members])
    np.testing.assert_allclose(model.predict(X_test), np.mean(members, axis=0))
    assert mean_squared_error(y_test, model.predict(X_test)) < mean


def test_members_differ_and_a_warm_start_adds_to_them() -> None:
    X, y = make_blobs(30, random_state=0)
    model = EnsembleClassifier(**SMALL, n_estimators=2, max_iter=2, warm_start=True).fit(X, y)
    a, b = model._outputs(X)
    assert not np.allclose(a, b)
    first = model.modules_[0]
    assert model.set_params(n_estimators=3).fit(X, y).modules_[0] is first
    assert len(model.modules_) == 3

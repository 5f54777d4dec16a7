"""Sparse input: the same weights as from the dense matrix, bit for bit."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.model_selection import GridSearchCV

from chainrule import tuning
from chainrule.estimators import CNNClassifier, MLPClassifier, MLPRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.random((60, 8)) * (RANDOM.random((60, 8)) < 0.3)
LABELS = np.where(X[:, 0] > X[:, 1], "yes", "no")
SETTINGS = {"hidden_layer_sizes": (4,), "max_iter": 4, "batch_size": 16, "random_state": 0}


@pytest.mark.parametrize("form", [csr_matrix, csc_matrix, csr_array])
@pytest.mark.parametrize("early", [False, True])
def test_sparse_rows_give_the_weights_of_the_dense_ones(form, early):
    dense = MLPClassifier(early_stopping=early, **SETTINGS).fit(X, LABELS)
    sparse = MLPClassifier(early_stopping=early, **SETTINGS).fit(form(X), LABELS)
    for one, other in zip(dense.module_.parameters(), sparse.module_.parameters(), strict=True):
        assert one.equal(other)
    np.testing.assert_array_equal(dense.predict_proba(X), sparse.predict_proba(form(X)))


def test_numbers_weights_and_single_epochs_work_too():
    y, weights = X @ np.arange(8.0), RANDOM.integers(0, 3, 60)
    dense = MLPRegressor(**SETTINGS).fit(X, y, weights)
    sparse = MLPRegressor(**SETTINGS).fit(csr_matrix(X), y, weights)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_matrix(X)))
    once = MLPClassifier(**SETTINGS).partial_fit(X, LABELS, ["no", "yes"])
    other = MLPClassifier(**SETTINGS).partial_fit(csr_matrix(X), LABELS, ["no", "yes"])
    np.testing.assert_array_equal(once.predict_proba(X), other.predict_proba(X))


def test_a_grid_search_takes_sparse_rows():
    grid = {"weight_decay": [0.0, 0.1]}
    ours = tuning.GridSearchCV(MLPClassifier(**SETTINGS), grid, cv=2).fit(csr_matrix(X), LABELS)
    theirs = GridSearchCV(MLPClassifier(**SETTINGS), grid, cv=2).fit(X, LABELS)
    assert ours.best_score_ == theirs.best_score_


def test_images_are_not_sparse():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CNNClassifier(filters=(2,), image_shape=(2, 4)).fit(csr_matrix(X), LABELS)

"""Transformers on sequences, and graph convolutions on nodes, behind scikit-learn's interface."""

import pickle

import networkx
import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris

from chainrule.errors import InputError
from chainrule.estimators import (
    GCNClassifier,
    MLPClassifier,
    RNNClassifier,
    TransformerClassifier,
    TransformerRegressor,
)
from chainrule.models.geometric import GCN
from chainrule.tuning import GridSearchCV

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)
SMALL = {"hidden_size": 8, "max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def karate() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The club: a unit vector for each member, the side each one took, and all friendships."""
    club = networkx.karate_club_graph()
    y = np.array([club.nodes[m]["club"] == "Officer" for m in club], dtype=int)
    edges = np.array(club.edges).T
    return np.eye(34), y, np.hstack([edges, edges[::-1]])


@pytest.mark.parametrize("kind", [TransformerClassifier, RNNClassifier])
def test_sequences_may_have_three_axes(kind: type) -> None:
    rows = kind(steps=2, **SMALL).fit(X, Y).predict_proba(X)
    model = kind(**SMALL).fit(X.reshape(-1, 2, 2), Y)
    np.testing.assert_array_equal(model.predict_proba(X.reshape(-1, 2, 2)), rows)
    with pytest.raises(InputError, match=r"expected sequences of 2 `steps`, got \(150, 4, 1\)"):
        model.predict(X.reshape(-1, 4, 1))


def test_a_transformer_sees_the_order_of_the_steps() -> None:
    draw = np.random.default_rng(0)
    x = draw.normal(size=(200, 6))
    y = x[:, 0] - x[:, 5]
    model = TransformerRegressor(
        hidden_size=16, max_iter=30, batch_size=20, learning_rate_init=0.01, random_state=0
    )
    assert model.fit(x, y).score(x, y) > 0.6
    assert model.score(x[:, ::-1], y) < 0


def test_heads_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="`num_heads` 3 does not divide `hidden_size` 8"):
        TransformerClassifier(num_heads=3, **SMALL).fit(X, Y)


def test_two_labeled_members_are_enough_to_split_the_club(
    karate: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, sides, edges = karate
    y = np.full(34, -1)
    y[[0, 33]] = sides[[0, 33]]
    model = GCNClassifier(max_iter=100, learning_rate_init=0.01, random_state=0)
    model.fit(x, y, edge_index=edges)
    assert model.classes_.tolist() == [0, 1]
    assert model.score(x, sides, edge_index=edges) > 0.9
    assert model.score(x, y, edge_index=edges) == 1, "nodes without a label are not counted"
    again = pickle.loads(pickle.dumps(model))
    p = again.predict_proba(x, edge_index=edges)
    np.testing.assert_array_equal(p, model.predict_proba(x, edge_index=edges))
    network: GCN = model.module_
    with torch.no_grad():
        f = network(torch.tensor(x), torch.tensor(edges))
    np.testing.assert_allclose(p, f.softmax(1).numpy(), rtol=1e-9)


def test_weight_zero_hides_a_label_but_not_the_node(
    karate: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, y, edges = karate
    weights = (np.arange(34) % 3 == 0).astype(float)
    model = GCNClassifier(max_iter=5, random_state=0)
    hidden = np.where(weights > 0, y, -1)
    a = model.fit(x, y, weights, edge_index=edges).predict_proba(x, edge_index=edges)
    b = model.fit(x, hidden, edge_index=edges).predict_proba(x, edge_index=edges)
    np.testing.assert_array_equal(a, b)


def test_partial_fit_on_a_graph_is_the_same_as_continuing(
    karate: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    x, y, edges = karate
    at_once = GCNClassifier(max_iter=3, dropout=0.5, random_state=0).fit(x, y, edge_index=edges)
    model = GCNClassifier(max_iter=3, dropout=0.5, random_state=0)
    for _ in range(3):
        model.partial_fit(x, y, classes=[0, 1], edge_index=edges)
    np.testing.assert_array_equal(
        model.predict_proba(x, edge_index=edges), at_once.predict_proba(x, edge_index=edges)
    )


def test_without_edges_it_is_a_network_for_each_row() -> None:
    model = GCNClassifier(max_iter=50, learning_rate_init=0.05, random_state=0).fit(X, Y)
    mlp = MLPClassifier(
        hidden_layer_sizes=(16,), max_iter=50, learning_rate_init=0.05, random_state=0
    ).fit(X, Y)
    assert model.score(X, Y) == pytest.approx(mlp.score(X, Y), abs=0.03)
    np.testing.assert_allclose(model.predict_proba(X[:5]), model.predict_proba(X)[:5])


def test_a_search_over_graph_networks_trains_them_one_by_one() -> None:
    search = GridSearchCV(GCNClassifier(max_iter=2, random_state=0), {"dropout": [0.0, 0.5]}, cv=2)
    assert search.fit(X, Y).best_params_["dropout"] in (0.0, 0.5)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.zeros((3, 2), dtype=int), r"expected `edge_index` \(2, edges\)"),
        (np.zeros((2, 2)), "expected `edge_index`"),
        (np.array([[0], [999]]), "999"),
    ],
)
def test_edges_that_make_no_sense_are_refused(edges: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GCNClassifier().fit(X, Y, edge_index=edges)
    with pytest.raises(InputError, match="-1 for all"):
        GCNClassifier().fit(X, np.full(150, -1), edge_index=np.zeros((2, 0), dtype=int))
    with pytest.raises(InputError, match="leave out `batch_size`"):
        GCNClassifier(batch_size=10).fit(X, Y)

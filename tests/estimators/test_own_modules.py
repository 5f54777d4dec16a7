"""Modules of one's own, and images and sequences as rows of X."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits, load_iris
from torch import nn

from chainrule.errors import InputError
from chainrule.estimators import (
    CNNClassifier,
    MLPClassifier,
    NetworkClassifier,
    NetworkRegressor,
    RNNClassifier,
    RNNRegressor,
)

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)


def test_a_module_is_copied_and_trained_as_our_own_networks_are() -> None:
    mlp = MLPClassifier(hidden_layer_sizes=(8,), max_iter=3, random_state=0)
    start = mlp.fit(X, Y)._network(mlp._seeds()[0], torch.tensor(X), 3)
    before = [p.detach().clone() for p in start.parameters()]
    own = NetworkClassifier(start, max_iter=3, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(own.predict_proba(X), mlp.predict_proba(X))
    assert all(map(torch.equal, before, start.parameters()))


def test_a_function_makes_the_module_for_inputs_and_outputs() -> None:
    model = NetworkRegressor(nn.Linear, learning_rate_init=0.05, random_state=0).fit(
        X, X @ [1, 2, 0, 0]
    )
    assert model.module_.weight.shape == (1, 4)
    assert model.score(X, X @ [1, 2, 0, 0]) > 0.95


def test_a_function_of_nothing_makes_a_module_which_is_copied() -> None:
    network = nn.Linear(4, 3)
    before = network.weight.clone()
    model = NetworkClassifier(lambda: network, max_iter=2).fit(X, Y)
    assert torch.equal(before, network.weight)
    assert not torch.equal(before, model.module_.weight)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (lambda inputs, outputs, depth: nn.Linear(4, 3), "<lambda> takes other arguments"),
        (lambda: 3, "makes a module as `module`, it made 3"),
        (dict, "dict takes other arguments"),
    ],
)
def test_a_function_that_makes_no_module_is_refused(factory: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        NetworkClassifier(factory).fit(X, Y)


def test_a_missing_module_and_a_wrong_one_are_named() -> None:
    with pytest.raises(InputError, match="expected a `module` with 4 inputs and 3 outputs"):
        NetworkClassifier().fit(X, Y)
    with pytest.raises(InputError, match=r"label 2, but the model has 2 outputs"):
        NetworkClassifier(nn.Linear(4, 2)).fit(X, Y)


def test_convolutions_see_the_neighbors_in_an_image() -> None:
    x, y = load_digits(return_X_y=True)
    x, y = x[:300] / 16, y[:300]
    model = CNNClassifier(image_shape=(8, 8), max_iter=25, learning_rate_init=0.01, random_state=0)
    assert model.fit(x, y).score(x, y) > 0.9
    assert model.module_.shape == (1, 8, 8)
    same = CNNClassifier(max_iter=25, learning_rate_init=0.01, random_state=0).fit(x, y)
    np.testing.assert_array_equal(same.predict_proba(x), model.predict_proba(x))


def test_rows_that_fill_no_square_are_padded() -> None:
    model = CNNClassifier(max_iter=2, filters=(4, 4)).fit(X[:, :3], Y)
    assert model.module_.shape == (1, 4, 4)


@pytest.mark.parametrize("estimator", [RNNClassifier, RNNRegressor])
def test_a_row_is_read_step_by_step(estimator: type) -> None:
    model = estimator(steps=2, hidden_size=4, max_iter=1, random_state=0).fit(X, Y)
    x = torch.tensor(X).view(-1, 2, 2)
    torch.testing.assert_close(model._outputs(X)[0], model.module_.network(x).detach())


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CNNClassifier(image_shape=(2, 3)), r"`image_shape` \(2, 3\) does not hold the 4 features"),
        (RNNClassifier(steps=3), "`steps` 3 does not divide the 4 features of a row"),
        (CNNClassifier(filters=(0,)), "`filters` must be a sequence"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(model: CNNClassifier, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize("estimator", [NetworkClassifier, NetworkRegressor])
def test_a_module_gets_examples_in_the_shape_of_x(estimator: type) -> None:
    images = X.reshape(-1, 1, 2, 2)
    outputs = 3 if estimator is NetworkClassifier else 1
    torch.manual_seed(0)
    flat = nn.Linear(4, outputs)
    deep = nn.Sequential(nn.Conv2d(1, outputs, 2), nn.Flatten())
    deep[0].weight.data = flat.weight.data.reshape(outputs, 1, 2, 2).clone()
    deep[0].bias.data = flat.bias.data.clone()
    settings = {"max_iter": 3, "weight_decay": 0.0, "random_state": 0}
    found = estimator(deep, **settings).fit(images, Y).predict(images)
    np.testing.assert_allclose(found, estimator(flat, **settings).fit(X, Y).predict(X), rtol=1e-6)
    with pytest.raises(InputError, match=r"expected examples of shape \(1, 2, 2\), as in fit"):
        estimator(deep, **settings).fit(images, Y).predict(X.reshape(-1, 2, 2))

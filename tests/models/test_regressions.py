"""Regressions against scikit-learn, NumPy, normal equations and autograd."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model
from torch import Tensor

from chainrule.errors import InputError
from chainrule.models.feedforward import (
    LinearRegression,
    LogisticRegression,
    RidgeRegression,
    SoftmaxRegression,
)
from chainrule.models.feedforward import logistic_regression as logistic
from chainrule.models.feedforward import softmax_regression as softmax

seeds = st.integers(0, 10**6)
sizes = st.integers(2, 12)


def data(seed: int, s: int, d: int, k: int = 2) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(s, d, generator=g, dtype=torch.float64) + 5
    return x, torch.randn(s, k, generator=g, dtype=torch.float64)


def solved(model: LinearRegression, x: Tensor, y: Tensor) -> LinearRegression:
    model.double().solve(x, y)
    return model


@settings(max_examples=20, deadline=None)
@given(seeds, sizes, sizes)
def test_without_bias_it_is_numpys_minimum_norm_solution(seed: int, s: int, d: int) -> None:
    x, y = data(seed, s, d)
    model = solved(LinearRegression(d, 2, bias=False), x, y)
    expected = np.linalg.lstsq(x.numpy(), y.numpy(), rcond=None)[0].T
    np.testing.assert_allclose(model.weight.detach(), expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(seeds, sizes, sizes)
def test_with_bias_it_is_scikit_learns(seed: int, s: int, d: int) -> None:
    x, y = data(seed, s, d)
    model = solved(LinearRegression(d, 2), x, y)
    peer = linear_model.LinearRegression().fit(x, y)
    np.testing.assert_allclose(model(x).detach(), peer.predict(x), rtol=1e-7, atol=1e-7)
    if s > d:  # with fewer examples its weights follow rounding errors of the centring
        np.testing.assert_allclose(model.weight.detach(), peer.coef_, rtol=1e-6, atol=1e-8)


@settings(max_examples=20, deadline=None)
@given(seeds, sizes, st.floats(-1e6, 1e6))
def test_with_few_examples_the_weights_lie_in_the_span_of_their_differences(
    seed: int, s: int, offset: float
) -> None:
    x, y = data(seed, s, 12)
    model = solved(LinearRegression(12, 2), x + offset, y)
    exact = np.linalg.pinv((x[1:] - x[0]).numpy()) @ (y[1:] - y[0]).numpy()
    np.testing.assert_allclose(model.weight.detach(), exact.T, rtol=1e-5, atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(seeds, sizes, sizes, st.floats(1e-3, 1e3))
def test_ridge_is_scikit_learns(seed: int, s: int, d: int, penalty: float) -> None:
    x, y = data(seed, s, d)
    model = solved(RidgeRegression(d, 2, penalty), x, y)
    peer = linear_model.Ridge(alpha=penalty, solver="svd").fit(x, y)
    np.testing.assert_allclose(model.weight.detach(), peer.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.bias.detach(), peer.intercept_, rtol=1e-7, atol=1e-8)


def test_the_residual_is_orthogonal_to_the_inputs() -> None:
    x, y = data(0, 30, 4)
    residual = y - solved(LinearRegression(4, 2), x, y)(x)
    assert (x.T @ residual).abs().max() < 1e-10
    assert residual.sum(0).abs().max() < 1e-10


def test_a_repeated_column_shares_its_weight_equally() -> None:
    x, y = data(0, 30, 1)
    model = solved(LinearRegression(2, 2), x.repeat(1, 2), y)
    torch.testing.assert_close(model.weight[:, 0], model.weight[:, 1])


def test_nearly_dependent_columns_do_not_spoil_the_fit() -> None:
    # The normal equations square the condition number: 10⁷ becomes 10¹⁴, and digits are gone.
    x, _ = data(0, 50, 2)
    x = torch.stack([x[:, 0], x[:, 0] + 1e-7 * x[:, 1]], dim=1)
    w = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
    model = solved(LinearRegression(2, bias=False), x, x @ w.T)
    torch.testing.assert_close(model.weight.detach(), w, rtol=1e-6, atol=1e-6)


def test_a_shift_of_the_targets_moves_the_bias_only() -> None:
    x, y = data(0, 20, 3)
    one = solved(RidgeRegression(3, 2, 10.0), x, y)
    two = solved(RidgeRegression(3, 2, 10.0), x, y + 7)
    torch.testing.assert_close(one.weight, two.weight)
    torch.testing.assert_close(one.bias + 7, two.bias)


def test_a_penalty_of_zero_is_refused() -> None:
    with pytest.raises(InputError, match="for 0 use LinearRegression"):
        RidgeRegression(3, penalty=0.0)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_the_logistic_gradient_is_autograds(seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(6, 3, generator=g, dtype=torch.float64)
    y = torch.randint(0, 2, (6,), generator=g)
    w = torch.randn(3, generator=g, dtype=torch.float64)
    expected = torch.func.jacrev(logistic.loss)(w, x, y)
    torch.testing.assert_close(logistic.gradient(w, x, y), expected)


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_the_softmax_gradient_is_autograds(seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(6, 3, generator=g, dtype=torch.float64)
    y = torch.randint(0, 4, (6,), generator=g)
    W = torch.randn(4, 3, generator=g, dtype=torch.float64)
    expected = torch.func.jacrev(softmax.loss)(W, x, y)
    torch.testing.assert_close(softmax.gradient(W, x, y), expected)


def test_two_classes_of_softmax_are_logistic_regression() -> None:
    x, _ = data(0, 9, 3)
    y = torch.arange(9) % 2
    W = torch.randn(2, 3, dtype=torch.float64)
    torch.testing.assert_close(softmax.loss(W, x, y), logistic.loss(W[1] - W[0], x, y))


def test_losses_of_certain_mistakes_are_finite() -> None:
    x, y = torch.full((1, 1), 1e4), torch.tensor([0])
    assert logistic.loss(torch.ones(1), x, y).item() == pytest.approx(1e4)


def test_images_are_flattened() -> None:
    x = torch.randn(5, 1, 4, 4)
    assert LogisticRegression(16)(x).shape == (5,)
    assert SoftmaxRegression(16, 3)(x).shape == (5, 3)

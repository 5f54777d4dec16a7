"""The pocket algorithm: its best weights, and only improvements."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.models.connectionism.perceptron import in_version_space
from chainrule.models.connectionism.pocket import Pocket, pocket_algorithm

XOR = torch.tensor([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
XOR_LABELS = torch.tensor([1.0, 1.0, -1.0, -1.0])
seeds = st.integers(0, 10**6)


@given(seeds)
@settings(max_examples=5, deadline=None)
def test_three_of_the_four_points_of_xor_are_the_best_possible(seed: int) -> None:
    assert pocket_algorithm(XOR, XOR_LABELS, updates=3000, seed=seed).errors == 1


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_more_updates_never_make_it_worse(seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    x, y = torch.randn(30, 2, generator=g), torch.randn(30, generator=g).sign()
    errors = [pocket_algorithm(x, y, updates, seed).errors for updates in (0, 10, 50, 200)]
    assert errors == sorted(errors, reverse=True)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_the_reported_errors_are_those_of_the_reported_weights(seed: int) -> None:
    g = torch.Generator().manual_seed(seed)
    x, y = torch.randn(30, 2, generator=g), torch.randn(30, generator=g).sign()
    result = pocket_algorithm(x, y, 50, seed)
    wrong = y * (x.double() @ result.w + result.b) <= 0
    assert int(wrong.sum()) == result.errors


def test_separable_data_end_in_the_version_space() -> None:
    x = torch.tensor([[2.0, 1.0], [1.0, 3.0], [-1.0, -1.0], [-2.0, 0.0]])
    y = torch.tensor([1.0, 1.0, -1.0, -1.0])
    result = pocket_algorithm(x, y)
    assert result.errors == 0 and result.reason == "no example is misclassified"
    assert in_version_space(result.w, result.b, x.double(), y.double())


def test_without_bias_the_bias_stays_zero_and_the_model_keeps_the_weights() -> None:
    model = Pocket(2, bias=False)
    result = model.fit(XOR, XOR_LABELS, updates=20)
    assert result.b.item() == 0 and torch.equal(model.w, result.w)


def test_labels_other_than_signs_are_refused() -> None:
    with pytest.raises(InputError, match="2 y - 1"):
        pocket_algorithm(XOR, torch.zeros(4))

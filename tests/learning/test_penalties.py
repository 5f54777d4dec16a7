"""Penalties by hand, and the proximal step against the minimum it stands for."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from chainrule.learning.penalties import l1, l2, shrink, soft_threshold

numbers = st.floats(-5, 5)


def test_penalties_count_matrices_and_leave_biases_out() -> None:
    layer = nn.Linear(2, 2)
    layer.load_state_dict(
        {"weight": torch.tensor([[1.0, -2.0], [0.0, 3.0]]), "bias": torch.tensor([9.0, 9.0])}
    )
    assert l2(layer.parameters()).item() == 7.0
    assert l1(layer.parameters()).item() == 6.0
    assert l1([layer.bias]).item() == 0.0


def test_their_gradients_are_the_weight_and_its_sign() -> None:
    W = torch.tensor([[1.5, -2.0, 0.0]], requires_grad=True)
    assert torch.equal(torch.autograd.grad(l2([W]), W)[0], W)
    assert torch.equal(torch.autograd.grad(l1([W]), W)[0], W.sign())


@given(numbers, st.floats(0, 3), numbers)
def test_the_soft_threshold_is_the_minimum(w: float, tau: float, other: float) -> None:
    u = soft_threshold(torch.tensor([w], dtype=torch.float64), tau).item()

    def value(v: float) -> float:
        return 0.5 * (v - w) ** 2 + tau * abs(v)

    assert value(u) <= value(other) + 1e-12


def test_shrinking_acts_in_place_on_matrices_only() -> None:
    W, b = nn.Parameter(torch.tensor([[3.0, -0.5, -2.0]])), nn.Parameter(torch.ones(2))
    shrink([W, b], 1.0)
    assert W.tolist() == [[2.0, 0.0, -1.0]]
    assert b.tolist() == [1.0, 1.0]


def test_proximal_descent_finds_exact_zeros() -> None:
    """½ ‖W - a‖² + λ ‖W‖₁ has its minimum at the soft threshold of a."""
    a, W = torch.tensor([[2.0, 0.3, -0.2, -4.0]]), nn.Parameter(torch.ones(1, 4))
    for _ in range(200):
        W.data -= 0.1 * (W.data - a)
        shrink([W], 0.1 * 0.5)
    assert W.flatten().tolist() == pytest.approx([1.5, 0.0, 0.0, -3.5], abs=1e-5)
    assert (W == 0).sum() == 2

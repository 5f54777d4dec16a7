"""The δ-recursion against autograd and against a gradient worked out by hand."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.learning.backpropagation import (
    ACTIVATIONS,
    Layer,
    delta_softmax,
    delta_squared,
    forward,
    gradients,
)


def random_layers(sizes: list[int], seed: int) -> list[Layer]:
    torch.manual_seed(seed)
    return [
        Layer(torch.randn(m, n).double().requires_grad_(), torch.randn(m).double().requires_grad_())
        for n, m in pairwise(sizes)
    ]


@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=5),
    st.sampled_from(sorted(ACTIVATIONS)),
    st.integers(0, 99),
)
def test_it_equals_autograd(sizes: list[int], activation: str, seed: int) -> None:
    layers = random_layers(sizes, seed)
    x, y = torch.randn(4, sizes[0]).double(), torch.randn(4, sizes[-1]).double()
    f = forward(layers, x, activation)[0][-1]
    expected = torch.autograd.grad(
        0.5 * (f - y).square().sum(), [t for layer in layers for t in layer]
    )
    found = [t for layer in gradients(layers, x, delta_squared(f, y), activation) for t in layer]
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-10)


def test_one_linear_unit_by_hand() -> None:
    layer = Layer(torch.tensor([[2.0]]), torch.tensor([1.0]))
    x = torch.tensor([[3.0]])
    f = forward([layer], x, "identity")[0][-1]
    assert f.item() == 7
    (found,) = gradients([layer], x, delta_squared(f, torch.tensor([[5.0]])), "identity")
    assert (found.W.item(), found.b.item()) == (6.0, 2.0)


def test_softmax_deltas_add_up_to_zero() -> None:
    f = torch.randn(5, 4)
    delta = delta_softmax(f, torch.tensor([0, 1, 2, 3, 0]))
    assert delta.sum(1).tolist() == pytest.approx([0.0] * 5, abs=1e-6)

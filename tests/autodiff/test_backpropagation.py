"""The δ-recursion, co-states and tangents against autograd, differences and a hand calculation."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from chainrule.autodiff import (
    Block,
    Layer,
    automatic,
    costates,
    delta_sigmoid,
    delta_softmax,
    delta_squared,
    dense,
    forward,
    gradients,
    states,
    tangents,
)
from chainrule.autodiff.backpropagation import ACTIVATIONS


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


nets = (
    st.lists(st.integers(1, 6), min_size=2, max_size=5),
    st.sampled_from(sorted(ACTIVATIONS)),
    st.integers(0, 99),
)


def perceptron(activation: str, layers: int) -> list[Block]:
    """The MLP as blocks: φ(W x + b), the last one without φ."""
    return [dense(activation)] * (layers - 1) + [dense("identity")]


@given(*nets)
def test_co_states_give_the_gradients_of_the_delta_recursion(
    sizes: list[int], activation: str, seed: int
) -> None:
    layers = random_layers(sizes, seed)
    x, y = torch.randn(4, sizes[0]).double(), torch.randn(4, sizes[-1]).double()
    blocks = perceptron(activation, len(layers))
    with torch.no_grad():
        found = states(blocks, layers, x)
        top = delta_squared(found[-1], y)
        by_costates = costates(blocks, layers, found, top).gradients
        by_deltas = gradients(layers, x, top, activation)
    for a, b in zip(by_costates, by_deltas, strict=True):
        torch.testing.assert_close(a.W, b.W, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(a.b, b.b, rtol=1e-10, atol=1e-10)


def generic() -> tuple[list[Block], list[Tensor]]:
    """A dense, a residual, a normalizing and a gated layer, whose products torch finds."""
    torch.manual_seed(0)
    blocks = [
        automatic(lambda x, W: torch.tanh(x @ W.T)),
        automatic(lambda x, W: x + torch.sin(x @ W.T)),
        automatic(lambda x, W: x / (W.square().sum() + x.square().sum(1, keepdim=True)).sqrt()),
        automatic(lambda x, W: x * torch.sigmoid(x @ W.T)),
    ]
    shapes = [(4, 3), (4, 4), (2,), (4, 4)]
    return blocks, [torch.randn(shape, dtype=torch.float64) for shape in shapes]


def test_co_states_of_any_layers_are_autograds_gradients() -> None:
    blocks, weights = generic()
    x = torch.randn(5, 3, dtype=torch.float64)
    top = torch.randn(5, 4, dtype=torch.float64)
    found = costates(blocks, weights, states(blocks, weights, x), top)
    leaves = [t.requires_grad_() for t in (x, *weights)]
    xs = states(blocks, weights, x)
    expected = torch.autograd.grad((xs[-1] * top).sum(), [*xs[:-1], *leaves[1:]])
    for ours, theirs in zip([*found.p[:-1], *found.gradients], expected, strict=True):
        torch.testing.assert_close(ours, theirs)
    assert found.p[-1] is top


def test_co_states_are_central_differences() -> None:
    blocks, weights = generic()
    x = torch.randn(1, 3, dtype=torch.float64)
    top = torch.randn(1, 4, dtype=torch.float64)
    found = costates(blocks, weights, states(blocks, weights, x), top)
    e = 1e-6

    def loss(weights: list[Tensor]) -> float:
        return (states(blocks, weights, x)[-1] * top).sum().item()

    for l, W in enumerate(weights):  # noqa: E741
        for place in range(W.numel()):
            step = torch.zeros(W.numel(), dtype=W.dtype)
            step[place] = e
            plus, minus = list(weights), list(weights)
            plus[l], minus[l] = W + step.view(W.shape), W - step.view(W.shape)
            slope = (loss(plus) - loss(minus)) / (2 * e)
            assert found.gradients[l].flatten()[place].item() == pytest.approx(slope, abs=1e-8)


@given(*nets)
def test_tangents_are_autograds_forward_mode(sizes: list[int], activation: str, seed: int) -> None:
    layers = [Layer(*(t.detach() for t in layer)) for layer in random_layers(sizes, seed)]
    directions = [Layer(torch.randn_like(W), torch.randn_like(b)) for W, b in layers]
    x, x_dot = torch.randn(2, 4, sizes[0]).double()
    flat = [t for layer in layers for t in layer]
    flat_dot = [t for layer in directions for t in layer]

    def f(x: Tensor, *flat: Tensor) -> Tensor:
        pairs = [Layer(*flat[i : i + 2]) for i in range(0, len(flat), 2)]
        return forward(pairs, x, activation)[0][-1]

    expected = torch.autograd.functional.jvp(f, (x, *flat), (x_dot, *flat_dot))[1]
    found = tangents(layers, x, directions, x_dot, activation)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@given(*nets)
def test_forward_and_reverse_mode_agree_on_every_inner_product(
    sizes: list[int], activation: str, seed: int
) -> None:
    """⟨δ, J v⟩ = ⟨Jᵀ δ, v⟩."""
    layers = [Layer(*(t.detach() for t in layer)) for layer in random_layers(sizes, seed)]
    directions = [Layer(torch.randn_like(W), torch.randn_like(b)) for W, b in layers]
    x, delta = torch.randn(4, sizes[0]).double(), torch.randn(4, sizes[-1]).double()
    forwards = (tangents(layers, x, directions, torch.zeros_like(x), activation) * delta).sum()
    backwards = sum(
        (g.W * v.W).sum() + (g.b * v.b).sum()
        for g, v in zip(gradients(layers, x, delta, activation), directions, strict=True)
    )
    torch.testing.assert_close(forwards, backwards, rtol=1e-9, atol=1e-9)


def test_sigmoid_deltas_are_prediction_minus_label() -> None:
    f, y = torch.tensor([[0.0], [2.0]]), torch.tensor([1, 0])
    assert delta_sigmoid(f, y).flatten().tolist() == pytest.approx([-0.5, 0.880797], abs=1e-6)

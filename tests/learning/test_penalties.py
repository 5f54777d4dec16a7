"""Penalties by hand, the proximal step against its minimum, and which parameters they act on."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.learning.penalties import l1, l2, penalized_parameters, shrink, soft_threshold
from chainrule.models.feedforward import MLP, LogisticRegression
from chainrule.registry import Entry, entries

numbers = st.floats(-5, 5)


def linear(weight: list[list[float]], bias: list[float] | None = None) -> nn.Linear:
    layer = nn.Linear(len(weight[0]), len(weight), bias=bias is not None)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        if bias is not None:
            layer.bias.copy_(torch.tensor(bias))
    return layer


def named(model: nn.Module, parameters: list[nn.Parameter]) -> list[str]:
    return [name for name, p in model.named_parameters() if any(p is other for other in parameters)]


def test_penalties_count_weights_and_leave_biases_out() -> None:
    layer = linear([[1.0, -2.0], [0.0, 3.0]], bias=[9.0, 9.0])
    assert l2(layer).item() == 7.0
    assert l1(layer).item() == 6.0


def test_their_gradients_are_the_weight_and_its_sign() -> None:
    layer = linear([[1.5, -2.0, 0.0]])
    W = layer.weight
    assert torch.equal(torch.autograd.grad(l2(layer), W)[0], W)
    assert torch.equal(torch.autograd.grad(l1(layer), W)[0], W.sign())


@given(numbers, st.floats(0, 3), numbers)
def test_the_soft_threshold_is_the_minimum(w: float, tau: float, other: float) -> None:
    u = soft_threshold(torch.tensor([w], dtype=torch.float64), tau).item()

    def value(v: float) -> float:
        return 0.5 * (v - w) ** 2 + tau * abs(v)

    assert value(u) <= value(other) + 1e-12


def test_shrinking_acts_in_place_on_trainable_weights_only() -> None:
    model = nn.Sequential(linear([[3.0, -0.5, -2.0]], bias=[1.0]), linear([[5.0]]))
    model[1].requires_grad_(False)
    shrink(model, 1.0)
    assert model[0].weight.tolist() == [[2.0, 0.0, -1.0]]
    assert model[0].bias.tolist() == [1.0]
    assert model[1].weight.tolist() == [[5.0]]


def test_proximal_descent_finds_exact_zeros() -> None:
    """½ ‖W - a‖² + λ ‖W‖₁ has its minimum at the soft threshold of a."""
    a, layer = torch.tensor([[2.0, 0.3, -0.2, -4.0]]), linear([[1.0] * 4])
    for _ in range(200):
        layer.weight.data -= 0.1 * (layer.weight.data - a)
        shrink(layer, 0.1 * 0.5)
    assert layer.weight.flatten().tolist() == pytest.approx([1.5, 0.0, 0.0, -3.5], abs=1e-5)
    assert (layer.weight == 0).sum() == 2


def test_gains_and_biases_of_a_network_are_not_penalized() -> None:
    model = MLP(3, [4, 4], 2, norm="layer")
    assert named(model, penalized_parameters(model)) == [f"layers.{i}.weight" for i in range(3)]


def test_a_weight_vector_is_penalized_where_its_module_declares_it() -> None:
    model = nn.Sequential(LogisticRegression(3))
    assert named(model, penalized_parameters(model)) == ["0.weight"]


class Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.second = self.first
        self.gain = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.gain * self.second(self.first(x))


def test_a_shared_weight_is_penalized_once() -> None:
    model = Shared()
    assert named(model, penalized_parameters(model)) == ["first.weight"]
    assert len(penalized_parameters(model)) == 1


@pytest.mark.parametrize("entry", entries("models"), ids=lambda entry: entry.name)
def test_of_all_models_only_logistic_regression_has_a_weight_vector(entry: Entry) -> None:
    torch.manual_seed(0)
    model, _ = entry.load().example()
    vectors = [p for p in penalized_parameters(model) if p.ndim < 2]
    matrices = [name for name, p in model.named_parameters() if p.ndim > 1 and p.requires_grad]
    assert set(matrices) <= set(named(model, penalized_parameters(model)))
    assert bool(vectors) == (entry.name == "logistic-regression")

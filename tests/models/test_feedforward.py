"""Networks by hand, by law (permutation, identity), and against plain PyTorch."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward import MLP, DenselyConnected, ReLUInterpolant, ResidualNetwork
from chainrule.models.feedforward.mlp import parameter_count, xor_network
from chainrule.models.feedforward.residual_network import ResidualLayer
from chainrule.nn.activations import ACTIVATIONS
from chainrule.nn.dropout import dropout

activations = st.sampled_from(sorted(ACTIVATIONS))


def counted(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def test_an_mlp_is_pytorchs_sequence_of_the_same_layers() -> None:
    model, x = MLP(6, [5, 4], 3), torch.randn(7, 6)
    a, b, c = model.layers
    peer = nn.Sequential(a, nn.ReLU(), b, nn.ReLU(), c)
    assert torch.equal(model(x), peer(x))


@pytest.mark.parametrize("norm", ["batch", "layer"])
def test_norms_stand_before_the_activation_and_dropout_after_it(norm: str) -> None:
    model, x = MLP(6, [5], 3, activation="tanh", norm=norm, dropout=0.4), torch.randn(7, 6)
    first, last = model.layers
    torch.manual_seed(0)
    expected = last(dropout(model.norms[0](first(x)).tanh(), 0.4, training=True))
    torch.manual_seed(0)
    assert torch.equal(model(x), expected)
    model.eval()
    assert torch.equal(model(x), last(model.norms[0](first(x)).tanh()))


def test_dropout_may_differ_by_layer() -> None:
    model = MLP(4, [1000, 1000], 1, activation="identity", dropout=[0.5, 0.0])
    assert model.rates == (0.5, 0.0)
    x = torch.randn(3, 4)
    assert not torch.equal(model(x), model(x))
    assert torch.equal(model.eval()(x), model(x))


def test_the_notes_networks_have_the_notes_numbers_of_parameters() -> None:
    assert parameter_count(784, [256, 128], 10) == 235_146 == counted(MLP(784, [256, 128], 10))
    d, M = 7, 11
    assert parameter_count(d, [M], 1, output_bias=False) == (d + 2) * M
    assert counted(MLP(d, [M], 1, output_bias=False)) == (d + 2) * M


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 5), max_size=3), st.integers(1, 4), st.booleans())
def test_the_count_is_right_for_any_widths(hidden: Sequence[int], outputs: int, bias: bool) -> None:
    model = MLP(3, hidden, outputs, output_bias=bias)
    assert counted(model) == parameter_count(3, hidden, outputs, bias)
    assert model(torch.zeros(2, 3)).shape == (2, outputs)


@settings(max_examples=15, deadline=None)
@given(activations, st.integers(0, 1000))
def test_hidden_units_may_be_permuted(name: str, seed: int) -> None:
    torch.manual_seed(seed)
    model, x = MLP(4, [6], 2, activation=name).double(), torch.randn(5, 4).double()
    before, order = model(x), torch.randperm(6)
    first, last = model.layers
    nn.init.normal_(first.bias)
    before = model(x)
    with torch.no_grad():
        first.weight.copy_(first.weight[order])
        first.bias.copy_(first.bias[order])
        last.weight.copy_(last.weight[:, order])
    torch.testing.assert_close(model(x), before)


def test_inputs_of_any_shape_are_flattened() -> None:
    model, x = MLP(16, [3], 2), torch.randn(5, 1, 4, 4)
    assert torch.equal(model(x), model(x.reshape(5, 16)))


def test_two_relus_compute_xor() -> None:
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert xor_network()(x).flatten().tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"norm": "group"}, "None, got 'group'"),
        ({"activation": "sine"}, "no activation 'sine'"),
        ({"initialization": "luck"}, "no initialization 'luck'"),
        ({"dropout": 1.0}, "from 0 to below 1"),
        ({"hidden": [0]}, r"`hidden` must be .*, got \[0\]"),
        ({"dropout": [0.1, 0.1]}, "each of the 1 hidden"),
    ],
)
def test_wrong_settings_are_refused_by_name(wrong: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MLP(**{"inputs": 4, "hidden": [3], "outputs": 2, **wrong})


@settings(max_examples=15, deadline=None)
@given(activations)
def test_a_residual_layer_with_zero_weights_is_the_identity(name: str) -> None:
    layer, x = ResidualLayer(6, 6, name), torch.randn(5, 6)
    assert layer.projection is None
    nn.init.zeros_(layer.linear.weight)
    torch.testing.assert_close(layer(x), x)


def test_a_projected_residual_layer_by_hand() -> None:
    layer, x = ResidualLayer(3, 2, "sigmoid"), torch.randn(5, 3)
    assert layer.projection is not None
    expected = x @ layer.projection.weight.T + layer.linear(x).sigmoid() - 0.5
    torch.testing.assert_close(layer(x), expected)


def test_only_the_first_layer_of_a_residual_network_projects() -> None:
    model = ResidualNetwork(3, hidden_size=5, num_layers=4, outputs=2)
    assert [layer.projection is not None for layer in model.layers] == [True, False, False, False]
    assert ResidualNetwork(5, 5, 1, 2).layers[0].projection is None


def test_the_output_of_a_residual_network_keeps_its_size_at_any_depth() -> None:
    for depth in (2, 8, 32, 128):
        torch.manual_seed(0)
        model = ResidualNetwork(16, 32, depth, 10)
        with torch.no_grad():
            assert 0.5 < model(torch.randn(256, 16)).std() < 2


def loss_after_training(model: nn.Module, x: Tensor, y: Tensor, steps: int) -> float:
    descent = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        rows = torch.arange(128 * step, 128 * (step + 1)) % len(x)
        descent.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        descent.step()
    with torch.no_grad():
        return nn.functional.cross_entropy(model(x), y).item()


@pytest.mark.parametrize("seed", range(3))
def test_depth_helps_a_residual_network_more_than_a_plain_one(seed: int) -> None:
    pixels, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(pixels / 16).float(), torch.tensor(labels)
    losses = {}
    for depth in (2, 24):
        torch.manual_seed(seed)
        losses["plain", depth] = loss_after_training(MLP(64, [32] * depth, 10), x, y, 100)
        torch.manual_seed(seed)
        model = ResidualNetwork(64, 32, depth, 10)
        losses["residual", depth] = loss_after_training(model, x, y, 100)
    assert losses["residual", 24] < 0.5 * losses["residual", 2]
    assert losses["residual", 24] < 0.5 * losses["plain", 24]


def test_densely_connected_layers_by_hand() -> None:
    model, x = DenselyConnected(3, hidden_size=2, num_layers=2, outputs=1), torch.randn(5, 3)
    one, two = model.layers
    h_1 = one(x).relu()
    h_2 = two(torch.cat([h_1, x], dim=1)).relu()
    torch.testing.assert_close(model(x), model.output(torch.cat([h_2, h_1, x], dim=1)))
    assert [layer.in_features for layer in (one, two, model.output)] == [3, 5, 7]


def interpolant(seed: int, points: int) -> tuple[ReLUInterpolant, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    knots = (0.1 + torch.rand(points, generator=g, dtype=torch.float64)).cumsum(0) - 5
    values = torch.randn(points, generator=g, dtype=torch.float64)
    return ReLUInterpolant(knots, values), knots, values


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30))
def test_the_relu_interpolant_is_exact(seed: int, points: int) -> None:
    model, knots, values = interpolant(seed, points)
    x = torch.cat([knots, torch.linspace(float(knots[0]), float(knots[-1]), 200).double()])
    x = x.clamp(knots[0], knots[-1])
    expected = np.interp(x.numpy(), knots.numpy(), values.numpy())
    np.testing.assert_allclose(model(x[:, None])[:, 0].detach(), expected, atol=1e-11)


def test_m_pieces_need_m_minus_one_relus() -> None:
    model, _, _ = interpolant(0, points=8)
    assert len(model.c) == len(model.knots) == 7 - 1


def test_the_interpolant_is_continued_linearly() -> None:
    knots, values = torch.tensor([0.0, 1.0, 2.0]), torch.tensor([0.0, 1.0, 0.0])
    x = torch.tensor([[-3.0], [5.0]])
    assert ReLUInterpolant(knots, values)(x).flatten().tolist() == [-3, -3]


def test_unsorted_knots_are_refused() -> None:
    with pytest.raises(InputError, match="increasing order"):
        ReLUInterpolant(torch.tensor([1.0, 0.0]), torch.zeros(2))

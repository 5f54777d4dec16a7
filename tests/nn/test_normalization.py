"""Normalization written out against torch's, and the notes' weight-norm gradient."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.normalization import (
    BatchNorm,
    LayerNorm,
    WeightNormLinear,
    weight_norm,
    weight_norm_gradient,
)

SHAPES = {nn.BatchNorm1d: (6, 3), nn.BatchNorm2d: (6, 3, 4, 5)}


def same_parameters(ours: nn.Module, theirs: nn.Module) -> None:
    """Scale and shift that are not the starting ones."""
    torch.manual_seed(1)
    with torch.no_grad():
        theirs.weight.uniform_(0.5, 2), theirs.bias.normal_()
        ours.weight.copy_(theirs.weight), ours.bias.copy_(theirs.bias)


@pytest.mark.parametrize("peer", SHAPES)
def test_batch_normalization_is_torchs_in_training_and_evaluation(peer: type) -> None:
    ours, theirs = BatchNorm(3), peer(3)
    same_parameters(ours, theirs)
    for _ in range(4):
        x = 3 * torch.randn(SHAPES[peer]) + 2
        torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_var, theirs.running_var)
    x = torch.randn(SHAPES[peer])
    torch.testing.assert_close(ours.eval()(x), theirs.eval()(x))
    torch.testing.assert_close(ours(x[:1]), theirs(x[:1]))


def test_gradients_flow_through_the_batchs_statistics() -> None:
    ours, theirs = BatchNorm(3), nn.BatchNorm1d(3)
    same_parameters(ours, theirs)
    x, weight = torch.randn(6, 3, requires_grad=True), torch.randn(6, 3)
    found = torch.autograd.grad((ours(x) * weight).sum(), [x, ours.weight, ours.bias])
    expected = torch.autograd.grad((theirs(x) * weight).sum(), [x, theirs.weight, theirs.bias])
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


def test_a_normalized_batch_has_mean_zero_and_variance_one() -> None:
    y = BatchNorm(4)(5 + 3 * torch.randn(200, 4))
    torch.testing.assert_close(y.mean(0), torch.zeros(4), atol=1e-5, rtol=0)
    torch.testing.assert_close(y.var(0, correction=0), torch.ones(4), atol=1e-4, rtol=0)


def test_a_batch_of_one_has_no_variance() -> None:
    with pytest.raises(InputError, match="two values of each unit in training"):
        BatchNorm(3)(torch.randn(1, 3))


@pytest.mark.parametrize("shape", [(5, 4), (2, 3, 4)])
def test_layer_normalization_is_torchs(shape: tuple[int, ...]) -> None:
    ours, theirs = LayerNorm(4), nn.LayerNorm(4)
    same_parameters(ours, theirs)
    x = 3 * torch.randn(shape) + 2
    torch.testing.assert_close(ours(x), theirs(x))


def drawn(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(seed)
    v, gradient = torch.randn(2, 3, 5, dtype=torch.float64)
    return v.requires_grad_(), torch.randn(3, dtype=torch.float64, requires_grad=True), gradient


@given(st.integers(0, 99))
def test_the_written_out_weight_norm_gradient_is_autograds(seed: int) -> None:
    v, gamma, gradient = drawn(seed)
    expected = torch.autograd.grad((weight_norm(v, gamma) * gradient).sum(), [v, gamma])
    for ours, theirs in zip(weight_norm_gradient(v, gamma, gradient), expected, strict=True):
        torch.testing.assert_close(ours, theirs)


@given(st.integers(0, 99))
def test_that_gradient_is_orthogonal_to_the_weight(seed: int) -> None:
    v, gamma, gradient = drawn(seed)
    dv, _ = weight_norm_gradient(v, gamma, gradient)
    along = (dv * weight_norm(v, gamma)).sum(1)
    torch.testing.assert_close(along, torch.zeros_like(along), atol=1e-12, rtol=0)


def test_a_weight_normalized_layer_starts_as_the_layer_it_was() -> None:
    layer = nn.Linear(5, 3)
    normed = WeightNormLinear(layer)
    x = torch.randn(4, 5)
    torch.testing.assert_close(normed(x), layer(x))
    peer = nn.utils.parametrizations.weight_norm(layer)
    with torch.no_grad():
        normed.gamma.mul_(2), peer.parametrizations.weight.original0.mul_(2)
    torch.testing.assert_close(normed(x), peer(x))


def test_the_length_of_the_weight_is_gamma() -> None:
    normed = WeightNormLinear(nn.Linear(5, 3))
    with torch.no_grad():
        normed.v.mul_(7), normed.gamma.copy_(torch.tensor([1.0, 2.0, 3.0]))
    torch.testing.assert_close(normed.weight.norm(dim=1).tolist(), [1.0, 2.0, 3.0])


def test_zero_weights_have_no_direction() -> None:
    with pytest.raises(InputError, match="rows of weights that are not zero"):
        MLP(3, [4], 2, norm="weight", initialization="zero")


@pytest.mark.parametrize("norm", ["batch", "layer", "weight"])
def test_a_perceptron_with_any_norm_computes_and_learns(norm: str) -> None:
    model = MLP(6, [5, 4], 3, norm=norm)
    out = model(torch.randn(8, 6))
    assert out.shape == (8, 3)
    out.square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_weight_normalization_leaves_the_starting_network_as_it_was() -> None:
    models = []
    for norm in (None, "weight"):
        torch.manual_seed(0)
        models.append(MLP(6, [5, 4], 3, norm=norm))
    x = torch.randn(8, 6)
    torch.testing.assert_close(models[0](x), models[1](x))

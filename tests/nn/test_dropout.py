"""Inverted dropout: its mean, its rate, and that nothing happens outside training."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.dropout import DropConnect, dropout, mask, monte_carlo


@given(st.floats(0.01, 0.99))
def test_dropped_units_are_zero_and_the_others_keep_the_mean(rate: float) -> None:
    torch.manual_seed(0)
    n = 40_000
    m = mask(torch.empty(n), rate)
    kept = m > 0
    share = kept.double().mean().item()
    # Five standard deviations of a binomial share: one false alarm in two million.
    assert abs(share - (1 - rate)) < 5 * (rate * (1 - rate) / n) ** 0.5 + 2**-16
    assert torch.allclose(m[kept], torch.tensor(1 / (1 - rate)), rtol=2e-3)


def test_the_four_units_of_one_draw_are_independent() -> None:
    torch.manual_seed(0)
    m = (mask(torch.empty(400_000), 0.5) > 0).double().view(-1, 4)
    correlation = torch.corrcoef(m.T) - torch.eye(4, dtype=torch.float64)
    assert correlation.abs().max() < 5 / 100_000**0.5


def test_it_repeats_under_a_seed_and_rests_outside_training() -> None:
    h = torch.randn(7, 5)

    def drawn() -> Tensor:
        torch.manual_seed(3)
        return dropout(h, 0.4, training=True)

    assert torch.equal(drawn(), drawn())
    assert dropout(h, 0.4, training=False) is h
    assert dropout(h, 0.0, training=True) is h


def test_gradients_flow_through_the_kept_units_only() -> None:
    h = torch.ones(1000, requires_grad=True)
    out = dropout(h, 0.3, training=True)
    out.sum().backward()
    assert torch.equal(h.grad, out.detach())


def test_monte_carlo_of_a_linear_layer_has_the_exact_mean_and_spread() -> None:
    """Σ_i w_i h_i m_i / p has mean wᵀh and variance (1 - p)/p Σ w_i² h_i² (L exercise 10.5)."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Dropout(0.3), nn.Linear(6, 1))
    x, samples = torch.randn(4, 6), 4000
    found = monte_carlo(model, x, samples)
    variance = 0.3 / 0.7 * (model[1].weight.square() * x.square()).sum(1, keepdim=True).detach()
    error = (found.mean - model.eval()(x).detach()).abs()
    assert (error < 5 * (variance / samples).sqrt()).all()
    torch.testing.assert_close(found.spread, variance.sqrt(), rtol=0.1, atol=0)


@pytest.mark.parametrize("training", [True, False])
def test_monte_carlo_leaves_model_and_generator_as_they_were(training: bool) -> None:
    model = MLP(4, [8], 3, dropout=0.5, norm="batch").train(training)
    weights = {name: t.clone() for name, t in model.state_dict().items()}
    state = torch.get_rng_state()
    monte_carlo(model, torch.randn(5, 4, generator=torch.Generator().manual_seed(0)))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(part.training == training for part in model.modules())
    assert all(torch.equal(t, weights[name]) for name, t in model.state_dict().items())


def test_batch_normalization_stays_in_evaluation_so_examples_do_not_mix() -> None:
    model = MLP(4, [8], 3, dropout=0.0, norm="batch").eval()
    x = torch.randn(5, 4)
    found = monte_carlo(model, x, samples=2)
    torch.testing.assert_close(found.mean, model(x).detach())
    assert not found.spread.any()


def test_monte_carlo_repeats_under_its_seed_and_averages_what_it_is_told() -> None:
    model, x = MLP(4, [8], 3, dropout=0.5), torch.randn(5, 4)
    one = monte_carlo(model, x, 10, seed=1, transform=lambda f: f.softmax(1))
    assert torch.equal(one.mean, monte_carlo(model, x, 10, 1, lambda f: f.softmax(1)).mean)
    assert not torch.equal(one.mean, monte_carlo(model, x, 10, 2, lambda f: f.softmax(1)).mean)
    torch.testing.assert_close(one.mean.sum(1), torch.ones(5))


def test_one_sample_has_no_spread() -> None:
    with pytest.raises(InputError, match="samples must be at least 2"):
        monte_carlo(nn.Identity(), torch.ones(1), samples=1)


def test_masks_of_images_do_not_depend_on_their_layout_and_lie_channels_last() -> None:
    images = torch.randn(2, 3, 4, 5)
    masks = []
    for layout in (torch.contiguous_format, torch.channels_last):
        torch.manual_seed(0)
        masks.append(mask(images.to(memory_format=layout), 0.5))
    assert torch.equal(*masks)
    assert masks[0].is_contiguous(memory_format=torch.channels_last)


def test_drop_connect_by_hand() -> None:
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[3.0, 5.0]]))
        layer.bias.fill_(1.0)
    model = DropConnect(layer, torch.tensor([[0.5, 1.0]]))
    x = torch.ones(1000, 2)
    torch.manual_seed(0)
    assert set(model(x)[:, 0].tolist()) == {6.0, 9.0}, "a mask for every example"
    assert model.eval()(x[:1]).item() == 0.5 * 3 + 5 + 1


def test_drop_connect_refuses_what_is_not_a_probability() -> None:
    for keep in (1.5, torch.ones(3), torch.tensor([[-0.1, 0.5]])):
        with pytest.raises(InputError, match="`keep` must be a probability"):
            DropConnect(nn.Linear(2, 1), keep)

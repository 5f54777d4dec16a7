"""Inverted dropout: its mean, its rate, and that nothing happens outside training."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from chainrule.nn.dropout import dropout, mask


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

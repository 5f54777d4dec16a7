"""Optimisers and schedules: the quick kernels against torch.optim, schedules at their corners."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.optimisers import groups, optimiser
from chainrule.learning.quick_adam import QuickAdam, QuickAdamW
from chainrule.learning.schedules import SCHEDULES, one_cycle, schedule


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))


def steps(model: nn.Module, chosen: torch.optim.Optimizer, number: int, first: int = 0) -> None:
    for step in range(first, first + number):
        torch.manual_seed(step)
        chosen.zero_grad()
        model(torch.randn(4, 6)).square().sum().backward()
        chosen.step()


@pytest.mark.parametrize(
    ("quick", "torchs"), [(QuickAdam, torch.optim.Adam), (QuickAdamW, torch.optim.AdamW)]
)
def test_the_quick_kernel_is_torchs_bit_for_bit(quick: type, torchs: type) -> None:
    ours, theirs = network(), network()
    a = quick(groups(ours.parameters(), 0.1), lr=0.01)
    b = torchs(groups(theirs.parameters(), 0.1), lr=0.01, fused=True)
    for model, chosen in ((ours, a), (theirs, b)):
        steps(model, chosen, 7)
    assert all(map(torch.equal, ours.parameters(), theirs.parameters()))


def test_its_state_survives_a_round_trip() -> None:
    straight, broken = network(), network()
    steps(straight, QuickAdam(straight.parameters(), lr=0.01), 6)
    first = QuickAdam(broken.parameters(), lr=0.01)
    steps(broken, first, 3)
    second = QuickAdam(broken.parameters(), lr=0.01)
    second.load_state_dict(first.state_dict())
    steps(broken, second, 3, first=3)
    assert all(map(torch.equal, straight.parameters(), broken.parameters()))


@pytest.mark.parametrize("name", ["sgd", "momentum", "adam", "adamw"])
def test_every_optimiser_descends(name: str) -> None:
    x = nn.Parameter(torch.tensor([[3.0, -2.0]]))
    chosen = optimiser(name, [x], 0.1)
    for _ in range(200):
        chosen.zero_grad()
        x.square().sum().backward()
        chosen.step()
    assert x.abs().max() < 0.1


def test_decay_acts_on_matrices_and_leaves_biases_alone() -> None:
    layer = nn.Linear(3, 2)
    before = layer.bias.clone()
    chosen = optimiser("sgd", layer.parameters(), 0.5, weight_decay=1.0)
    weights = layer.weight.clone()
    for p in layer.parameters():
        p.grad = torch.zeros_like(p)
    chosen.step()
    assert torch.allclose(layer.weight, 0.5 * weights)
    assert torch.equal(layer.bias, before)


def test_unknown_names_are_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean adam"):
        optimiser("adamm", [], 0.1)
    with pytest.raises(InputError, match="known: constant, cosine, one-cycle"):
        schedule("sine")


@given(st.sampled_from(sorted(SCHEDULES)), st.floats(0, 1))
def test_schedules_stay_between_zero_and_one(name: str, progress: float) -> None:
    assert 0 <= SCHEDULES[name](progress) <= 1


def test_schedules_at_their_corners() -> None:
    assert SCHEDULES["cosine"](0.0) == 1
    assert SCHEDULES["cosine"](1.0) == pytest.approx(0)
    assert one_cycle(0.0) == pytest.approx(1 / 25)
    assert one_cycle(0.3) == pytest.approx(1)
    assert one_cycle(1.0) == pytest.approx(1e-4)

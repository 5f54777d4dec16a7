"""The moving average against the weighted mean that it is, and its way to the disk and back."""

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import nn

from chainrule.errors import InputError
from chainrule.learning.averaging import MovingAverage


def moved(model: nn.Module, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p))
    return model


@given(st.floats(0, 0.999), st.integers(1, 12))
def test_it_is_the_weighted_mean_of_all_past_weights(decay: float, steps: int) -> None:
    model, average, seen = nn.Linear(3, 2).double(), MovingAverage(decay), []
    for t in range(steps):
        average.update(moved(model, t))
        seen.append(model.weight.detach().clone())
    weights = torch.tensor([decay ** (steps - 1 - s) for s in range(steps)], dtype=torch.float64)
    expected = (weights[:, None, None] * torch.stack(seen)).sum(0) / weights.sum()
    torch.testing.assert_close(average.weights["weight"], expected)


def test_buffers_are_averaged_and_whole_numbers_copied() -> None:
    model, average = nn.BatchNorm1d(2), MovingAverage(0.5)
    for _ in range(3):
        model(torch.randn(4, 2))
        average.update(model)
    assert average.weights["num_batches_tracked"] == 3
    assert not torch.equal(average.weights["running_mean"], model.running_mean)


def test_it_is_applied_inside_a_with_only() -> None:
    model, average = nn.Linear(2, 2), MovingAverage(0.5)
    for t in range(2):
        average.update(moved(model, t))
    own, x = model.weight.detach().clone(), torch.ones(1, 2)
    with average.applied(model):
        torch.testing.assert_close(model.weight.detach(), average.weights["weight"])
        inside = model(x)
    assert torch.equal(model.weight.detach(), own)
    assert not torch.equal(model(x), inside)


def test_a_saved_state_continues_bit_for_bit(tmp_path: Path) -> None:
    model, straight, first = nn.Linear(3, 2), MovingAverage(0.9), MovingAverage(0.9)
    for t in range(3):
        straight.update(moved(model, t))
        first.update(model)
    save_file(first.state(), tmp_path / "average.safetensors")
    second = MovingAverage(0.9)
    second.restore(load_file(tmp_path / "average.safetensors"))
    for average in (straight, second):
        average.update(moved(model, 7))
    assert second.updates == 4
    assert torch.equal(straight.weights["weight"], second.weights["weight"])


def test_the_average_does_not_share_memory_with_the_model() -> None:
    model, average = nn.Linear(2, 2), MovingAverage()
    average.update(model)
    before = average.weights["bias"].clone()
    moved(model, 1)
    assert torch.equal(average.weights["bias"], before)


def test_a_decay_of_one_is_refused() -> None:
    with pytest.raises(InputError, match="`decay` must be a number from 0 to below 1"):
        MovingAverage(1.0)

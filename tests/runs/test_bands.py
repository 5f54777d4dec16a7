"""The band of a forecast: by hand, and its promise on exchangeable data."""

import pytest
import torch

from chainrule.errors import InputError
from chainrule.runs.bands import (
    LEAST,
    RECENT,
    band_margins,
    checked_band,
    rolling_margins,
    widened,
)


def test_margins_are_the_ninth_of_ten_distances_by_hand():
    output = torch.zeros(19, 1, 3)
    value = torch.arange(-9.0, 10.0)[:, None]
    y = torch.stack([value, torch.ones_like(value)], 2)
    # e_high = y: the ⌈20 · 0.9⌉ = 18th smallest of -9 … 9 is 8, and the same below.
    assert band_margins(output, y).tolist() == [[8.0, 8.0]]
    low, middle, high = widened(output, band_margins(output, y))[0, 0].tolist()
    assert (low, middle, high) == (-8.0, 0.0, 8.0)


def test_steps_without_values_do_not_count_and_the_ends_do_not_cross():
    output = torch.tensor([[[-5.0, 0.0, 5.0]]]).repeat(40, 1, 1)
    y = torch.zeros(40, 1, 2)
    assert band_margins(output, y).tolist() == [[0.0, 0.0]]
    y[:, :, 1] = 1
    moved = widened(output, band_margins(output, y))
    assert moved[0, 0].tolist() == [0.0, 0.0, 0.0]
    assert widened(output, torch.tensor([[-9.0, -9.0]]))[0, 0].tolist() == [0.0, 0.0, 0.0]


def test_a_band_that_is_too_narrow_covers_after_it_was_moved():
    generator = torch.Generator().manual_seed(0)
    value = torch.randn(8000, 2, generator=generator)
    output = torch.tensor([-0.3, 0.0, 0.3]).expand(8000, 2, 3)
    y = torch.stack([value, torch.ones_like(value)], 2)
    moved = widened(output[4000:], band_margins(output[:4000], y[:4000]))
    inside = (moved[:, :, 0] <= value[4000:]) & (value[4000:] <= moved[:, :, 2])
    assert abs(inside.double().mean().item() - 0.8) < 0.03


@pytest.mark.parametrize("band", [None, [[0, 0]], [[0, 0], [0]], [[0, "a"], [0, 0]], "ab"])
def test_a_damaged_band_is_refused(band):
    with pytest.raises(InputError, match="two numbers for each of 2 steps"):
        checked_band(band, 2)


def test_rolling_margins_read_only_outcomes_before_the_origin_by_hand():
    windows, horizon = 140, 2
    generator = torch.Generator().manual_seed(0)
    value = torch.randn(windows, horizon, generator=generator, dtype=torch.float64)
    output = torch.zeros(windows, horizon, 3, dtype=torch.float64)
    y = torch.stack([value, torch.ones_like(value)], 2)
    origins = torch.stack([torch.zeros(windows).long(), torch.arange(windows)], 1)
    usual = torch.full((horizon, 2), 7.0)
    found = rolling_margins(output, y, origins, usual)
    for step in range(horizon):
        for row in (LEAST + 1, 60, 139):
            known = value[max(0, row - step - RECENT) : row - step, step]
            rank = -(-(len(known) + 1) * 9 // 10)
            assert found[row, step, 1] == known.sort().values[rank - 1]
    assert found[LEAST - 1].eq(7).all()
    changed = y.clone()
    changed[100:] = 50.0  # what comes later changes nothing before it
    changed[..., 1] = 1
    assert torch.equal(rolling_margins(output, changed, origins, usual)[:101], found[:101])
    order = torch.randperm(windows, generator=generator)
    mixed = rolling_margins(output[order], y[order], origins[order], usual)
    assert torch.equal(mixed, found[order])

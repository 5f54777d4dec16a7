"""Calibration errors, by hand and by law."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.learning.calibration import brier_score, calibration_error, reliability


def test_four_examples_by_hand() -> None:
    """Two bins: of 0.6 and 0.7 one is right, of 0.3 and 0.4 (three classes) none is."""
    p = torch.tensor([[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.4, 0.3, 0.3], [0.35, 0.35, 0.3]])
    y = torch.tensor([0, 0, 1, 2])
    confidence, accuracy, number = reliability(p, y, bins=2)
    torch.testing.assert_close(confidence, torch.tensor([0.375, 0.65]).double())
    assert accuracy.tolist() == [0, 0.5]
    assert number.tolist() == [2, 2]
    assert calibration_error(p, y, bins=2) == pytest.approx((0.375 + 0.15) / 2, abs=1e-6)
    assert brier_score(p[:1], y[:1]) == pytest.approx(0.4**2 + 0.3**2 + 0.1**2)


def test_a_bin_holds_its_upper_end() -> None:
    p = torch.tensor([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]], dtype=torch.float64)
    assert reliability(p, torch.tensor([0, 0, 0]), bins=4).number.tolist() == [0, 1, 1, 1]


def test_one_who_is_right_as_often_as_he_says_has_no_error() -> None:
    p = torch.tensor([[0.8, 0.2]], dtype=torch.float64).expand(10, 2)
    y = torch.tensor([0] * 8 + [1] * 2)
    assert calibration_error(p, y) == pytest.approx(0)
    assert calibration_error(p, 1 - y) == pytest.approx(0.6)


@given(st.integers(1, 60), st.integers(2, 5), st.integers(1, 20), st.integers(0, 99))
def test_every_example_is_in_one_bin_and_errors_are_shares(
    n: int, classes: int, bins: int, seed: int
) -> None:
    draw = torch.Generator().manual_seed(seed)
    p = torch.randn(n, classes, generator=draw).mul(3).softmax(1)
    y = torch.randint(classes, (n,), generator=draw)
    found = reliability(p, y, bins)
    assert found.number.sum() == n
    known = found.number > 0
    assert not found.confidence[known].isnan().any()
    edges = torch.arange(bins + 1).double() / bins
    inside = (found.confidence > edges[:-1] - 1e-9) & (found.confidence <= edges[1:] + 1e-9)
    assert inside[known].all()
    assert 0 <= calibration_error(p, y, bins) <= 1
    right = (p.argmax(1) == y).double().mean()
    gap = (right - p.double().max(1).values.mean()).abs().item()
    assert calibration_error(p, y, 1) == pytest.approx(gap, abs=1e-9)
    assert calibration_error(p, y, bins) >= gap - 1e-9  # finer bins cannot hide more
    assert 0 <= brier_score(p, y) <= 2


def test_no_bins_and_no_examples_are_refused() -> None:
    p, y = torch.tensor([[0.5, 0.5]]), torch.tensor([0])
    with pytest.raises(InputError, match="`bins` must be a whole number of at least 1"):
        reliability(p, y, bins=0)
    with pytest.raises(InputError, match="expected at least one example, got none"):
        calibration_error(p[:0], y[:0])

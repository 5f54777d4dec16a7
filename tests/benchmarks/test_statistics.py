"""The statistics of the suite, by hand and by law."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.suite.statistics import (
    Interval,
    change,
    drift,
    median_interval,
    narrow,
    ratios,
    slope,
)

TIMES = st.lists(st.floats(0.1, 10), min_size=1, max_size=40)


def coverage(n: int, drop: int) -> float:
    """The chance that a median lies between the order statistics that are left."""
    return 1 - 2 * sum(comb(n, k) for k in range(drop + 1)) * 0.5**n


@pytest.mark.parametrize(("n", "drop"), [(6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (30, 9)])
def test_as_many_values_are_dropped_as_95_percent_allow(n, drop):
    found = median_interval([float(k) for k in range(1, n + 1)])
    assert (found.low, found.high) == (1.0 + drop, float(n - drop))
    assert coverage(n, drop) >= 0.95 > coverage(n, drop + 1)


def test_few_values_give_their_extremes():
    assert median_interval([3.0, 1.0, 2.0]) == Interval(2.0, 1.0, 3.0)
    assert median_interval([1.5]) == Interval(1.5, 1.5, 1.5)


@given(TIMES)
def test_an_interval_holds_its_median(values):
    found = median_interval(values)
    assert found.low <= found.value <= found.high


def test_one_disturbed_round_of_many_does_not_move_the_ratio():
    ours = [1.0] * 11
    assert median_interval(ratios([1.3] * 10 + [20.0], ours)) == Interval(1.3, 1.3, 1.3)


def test_ratios_are_taken_round_by_round():
    """Both twice as slow in the second round: the ratio does not see it."""
    assert ratios([2.0, 4.0], [1.0, 2.0, 7.0]) == [2.0, 2.0]


def test_a_ratio_is_known_from_six_rounds_on():
    assert not narrow([1.0] * 5, 0.05)
    assert narrow([1.0] * 6, 0.05)
    assert not narrow([1.0, 1.0, 1.0, 1.0, 1.0, 1.06], 0.05)


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_a_power_law_gives_its_exponent(power):
    sizes = [2.0**k for k in range(8)]
    found, error = slope(sizes, [3 * size**power for size in sizes])
    assert found == pytest.approx(power)
    assert error < 1e-6


def test_a_slope_is_that_of_the_larger_half():
    """A constant that hides the growth of small sizes does not count."""
    sizes = [1.0, 2.0, 4.0, 8.0, 1e4, 2e4, 4e4, 8e4]
    assert slope(sizes, [100 + size for size in sizes])[0] == pytest.approx(1, abs=0.01)


def test_a_change_is_sure_only_beyond_both_intervals():
    before = Interval(1.0, 0.98, 1.02)
    assert change(Interval(1.2, 1.18, 1.22), before).low > 1
    assert change(Interval(0.8, 0.78, 0.82), before).high < 1
    assert change(Interval(1.02, 1.0, 1.04), before).tie


def test_drift_compares_the_last_third_with_the_first():
    assert drift([10.0, 10.0, 9.0, 9.0, 8.0, 8.0]) == pytest.approx(-0.2)
    assert drift([10.0]) == 0

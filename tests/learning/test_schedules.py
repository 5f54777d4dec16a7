"""Schedules at their corners, and the laws that all of them keep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.learning.schedules import SCHEDULES, schedule

CORNERS = {
    "constant": [(0.0, 1.0), (1.0, 1.0)],
    "step": [(0.0, 1.0), (0.499, 1.0), (0.5, 0.1), (0.75, 0.01), (1.0, 0.01)],
    "exponential": [(0.0, 1.0), (0.5, 0.1), (1.0, 0.01)],
    "cosine": [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)],
    "warm-up": [(0.0, 0.01), (0.025, 0.505), (0.05, 1.0), (1.0, 1.0)],
    "warm-up-cosine": [(0.0, 0.01), (0.05, 1.0), (0.525, 0.5), (1.0, 0.0)],
    "inverse-sqrt": [(0.0, 0.01), (0.04, 1.0), (0.16, 0.5), (1.0, 0.2)],
    "one-cycle": [(0.0, 1 / 25), (0.3, 1.0), (1.0, 1e-4)],
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_passes_its_corners(name: str) -> None:
    for progress, factor in CORNERS[name]:
        assert schedule(name)(progress) == pytest.approx(factor, abs=1e-12)


@given(st.sampled_from(sorted(SCHEDULES)), st.floats(0, 1))
def test_schedules_stay_between_zero_and_one(name: str, progress: float) -> None:
    assert 0 <= SCHEDULES[name](progress) <= 1


@given(st.sampled_from(sorted(SCHEDULES)), st.floats(0, 1), st.floats(0, 1))
def test_after_its_peak_a_schedule_never_rises(name: str, one: float, other: float) -> None:
    early, late = sorted((0.3 + 0.7 * one, 0.3 + 0.7 * other))
    assert SCHEDULES[name](early) >= SCHEDULES[name](late) - 1e-12


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_first_step_is_never_wasted(name: str) -> None:
    assert SCHEDULES[name](0.0) > 0


def test_an_unknown_schedule_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean cosine"):
        schedule("cosin")

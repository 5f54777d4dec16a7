"""Positional encodings: a fixed offset is a rotation, whatever the position."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.nn.positions import LearnedPositions, frequencies, rotation, sinusoidal


def test_the_printed_formula() -> None:
    p = sinusoidal(6, 8)
    for t in range(6):
        for i in range(4):
            angle = t / 10_000 ** (2 * i / 8)
            assert p[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert p[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@given(st.integers(0, 5000), st.integers(-500, 500), st.integers(1, 8))
def test_an_offset_is_a_rotation_that_does_not_depend_on_the_position(
    start: int, offset: int, pairs: int
) -> None:
    size, like = 2 * pairs, torch.zeros((), dtype=torch.float64)
    R = rotation(offset, size)
    p, moved = (sinusoidal(3, size, t, like) for t in (start, start + offset))
    torch.testing.assert_close(p @ R.T, moved, rtol=0, atol=1e-9)
    torch.testing.assert_close(R @ R.T, torch.eye(size, dtype=torch.float64))


def test_inner_products_depend_on_the_distance_only() -> None:
    p = sinusoidal(50, 16, like=torch.zeros((), dtype=torch.float64))
    G = p @ p.T
    for k in (1, 7, 20):
        diagonal = G.diagonal(k)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
        torch.testing.assert_close(diagonal[0], (k * frequencies(16)).cos().sum())


def test_later_positions_are_those_of_the_longer_table() -> None:
    assert torch.equal(sinusoidal(3, 8, start=4), sinusoidal(7, 8)[4:])
    learned = LearnedPositions(7, 8)
    assert torch.equal(learned(3, start=4), learned(7)[4:])


def test_bad_sizes_are_rejected() -> None:
    with pytest.raises(InputError, match="even hidden_size, got 5"):
        sinusoidal(3, 5)
    with pytest.raises(InputError, match="8 tokens is longer than the 7 learned positions"):
        LearnedPositions(7, 4)(4, start=4)

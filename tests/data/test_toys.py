"""The toy problems: the laws of their points."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chainrule.data.datasets import blobs, circles, moons, spirals, xor
from chainrule.errors import InputError


@given(
    st.integers(1, 20),
    st.floats(1e-3, 1e3),
    st.integers(0, 2**31),
)
def test_no_blob_point_is_nearer_to_the_hyperplane_than_the_margin(dimension, margin, seed):
    (x, y), w = blobs.sample(5_000, dimension, margin, seed)
    distance = x.double() @ w.double() / w.double().norm() * (2 * y - 1)
    assert distance.min() >= margin


def test_blob_points_come_within_reach_of_the_margin_on_both_sides():
    (x, y), w = blobs.sample(2_000, 2, 0.1, seed=0)
    distance = x @ w
    assert distance[y == 1].min() < 0.11 and distance[y == 0].max() > -0.11


def test_without_noise_xor_is_its_four_corners():
    x, y = xor.sample(20, 0.0, seed=0)
    assert x.abs().eq(1).all()
    assert torch.equal(y, (x.prod(dim=1) < 0).long())


def test_without_noise_the_second_spiral_is_the_first_one_turned_half_around():
    x, y = spirals.sample(400, 0.0, seed=0)
    x = torch.where(y[:, None] == 1, -x, x)
    r = x.norm(dim=1)
    angle = 2 * math.pi * 1.5 * r
    expected = r[:, None] * torch.stack([angle.cos(), angle.sin()], dim=1)
    torch.testing.assert_close(x, expected, atol=1e-5, rtol=0)


def test_without_noise_the_circles_have_radius_one_and_a_half():
    x, y = circles.sample(40, 0.0, seed=0)
    torch.testing.assert_close(x.norm(dim=1), 1 - 0.5 * y.float())


@pytest.mark.parametrize("toy", [moons, circles, xor, spirals])
def test_impossible_settings_are_refused(toy):
    with pytest.raises(InputError, match="at least 20, got 5"):
        toy.load(num_samples=5)
    with pytest.raises(InputError, match="noise must not be negative, got -1"):
        toy.load(noise=-1.0)


def test_impossible_blobs_are_refused():
    with pytest.raises(InputError, match="margin must be above 0"):
        blobs.load(margin=0.0)
    with pytest.raises(InputError, match="dimension must be at least 1"):
        blobs.load(dimension=0)

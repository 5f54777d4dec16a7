"""Augmentation: what each transformation does to pixels, and what all of them keep."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from chainrule.errors import InputError
from chainrule.learning.augmentation import (
    affine,
    color_jitter,
    compose,
    cutout,
    gaussian_noise,
    horizontal_flip,
    inverse_affine,
    random_crop,
    shift,
)

ALL = {
    "flip": horizontal_flip(),
    "crop": random_crop(3),
    "shift": shift(2),
    "affine": affine(),
    "noise": gaussian_noise(),
    "cutout": cutout(4),
    "compose": compose(horizontal_flip(), shift(2), cutout(3)),
}
every = pytest.mark.parametrize("name", ALL)


def images(*shape: int) -> Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(0)) + 0.5


@every
@pytest.mark.parametrize("shape", [(1, 1, 5, 7), (6, 3, 8, 8)])
def test_shape_and_type_stay_and_the_original_is_untouched(
    name: str, shape: tuple[int, ...]
) -> None:
    for dtype in (torch.float32, torch.float64):
        x = images(*shape).to(dtype)
        before = x.clone()
        y = ALL[name](x)
        assert (y.shape, y.dtype) == (x.shape, dtype)
        assert torch.equal(x, before)


@every
def test_a_seed_repeats_it_and_another_one_does_not(name: str) -> None:
    x = images(32, 1, 8, 8)

    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return ALL[name](x)

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


@pytest.mark.parametrize("name", sorted(set(ALL) - {"noise"}))
def test_other_things_than_images_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"expects images .* got \(2, 64\)"):
        ALL[name](torch.rand(2, 64))


def test_every_image_is_flipped_or_not_and_about_half_are() -> None:
    x = images(2000, 2, 3, 4)
    y = horizontal_flip()(x)
    flipped = (y == x.flip(-1)).flatten(1).all(1)
    assert (flipped | (y == x).flatten(1).all(1)).all()
    assert abs(flipped.float().mean() - 0.5) < 5 * 0.5 / 2000**0.5
    assert torch.equal(horizontal_flip(1.0)(x), x.flip(-1))


def test_a_shift_moves_whole_pixels_and_fills_the_rest() -> None:
    x = images(200, 1, 6, 6)
    seen = set()
    for before, after in zip(x, shift(2, fill=-1.0)(x), strict=True):
        padded = torch.nn.functional.pad(before, [2] * 4, value=-1.0)
        places = [
            (i, j)
            for i in range(5)
            for j in range(5)
            if torch.equal(padded[:, i : i + 6, j : j + 6], after)
        ]
        assert len(places) == 1
        seen |= set(places)
    assert len(seen) == 25


def test_a_crop_without_padding_is_a_window_of_the_image() -> None:
    y = random_crop(0, side=3)(torch.arange(36.0).view(1, 1, 6, 6).expand(50, 1, 6, 6))
    assert y.shape == (50, 1, 3, 3)
    corner = y[:, :, :1, :1]
    steps = torch.tensor([[0.0, 1, 2], [6, 7, 8], [12, 13, 14]])
    assert torch.equal(y - corner, steps.expand(50, 1, 3, 3))


def test_no_transformation_is_the_identity() -> None:
    x = images(4, 2, 7, 9)
    torch.testing.assert_close(affine(0.0, 0.0, 0.0)(x), x)
    torch.testing.assert_close(affine(0.0, 0.0, 0.0, fill=0.7)(x), x)


@given(st.floats(-3, 3), st.floats(0.5, 2), st.floats(-1, 1), st.floats(-1, 1))
def test_the_matrix_turns_pixels_back_whatever_the_aspect(
    angle: float, scale: float, right: float, down: float
) -> None:
    height, width = 20.0, 50.0
    A = inverse_affine(torch.tensor([angle]), torch.tensor([scale]), height / width)[0]
    source = A @ torch.tensor([right, down, 1.0])
    # In pixels, with y pointing down: turning back against the clock's inverse, then shrinking.
    x, y = right * width / 2, down * height / 2
    expected = [
        (math.cos(angle) * x - math.sin(angle) * y) / scale * 2 / width,
        (math.sin(angle) * x + math.cos(angle) * y) / scale * 2 / height,
    ]
    assert source.tolist() == pytest.approx(expected, abs=1e-5)


def test_rotated_images_keep_their_middle_and_stay_within_the_angle() -> None:
    """A bright pixel right of the middle turns on a circle about it."""
    x = torch.zeros(500, 1, 41, 41)
    x[:, :, 20, 35] = 1
    y = affine(30.0, 0.0, 0.0)(x).squeeze(1)
    grid = torch.arange(41.0) - 20
    mass = y.sum((1, 2))
    right = (y * grid).sum((1, 2)) / mass
    down = (y * grid[:, None]).sum((1, 2)) / mass
    angle = torch.atan2(-down, right).rad2deg()
    assert torch.hypot(right, down).sub(15).abs().max() < 0.3
    assert 25 < angle.max() < 31
    assert -31 < angle.min() < -25


def test_an_affine_shift_moves_by_a_share_of_the_side() -> None:
    x = torch.zeros(500, 1, 20, 40)
    x[:, :, 10, 20] = 1
    y = affine(0.0, 0.0, 0.1)(x).squeeze(1)
    right = (y * torch.arange(40.0)).sum((1, 2)) / y.sum((1, 2)) - 20
    down = (y * torch.arange(20.0)[:, None]).sum((1, 2)) / y.sum((1, 2)) - 10
    assert 3.7 < right.abs().max() < 4.01
    assert 1.8 < down.abs().max() < 2.01


def test_outside_an_image_lies_the_fill() -> None:
    y = affine(45.0, 0.0, 0.0, fill=-2.0)(torch.full((64, 1, 9, 9), -2.0))
    torch.testing.assert_close(y, torch.full_like(y, -2.0))


def test_noise_has_its_standard_deviation() -> None:
    noise = gaussian_noise(0.3)(torch.zeros(100, 1, 20, 20))
    assert noise.std().item() == pytest.approx(0.3, rel=0.02)
    assert abs(noise.mean().item()) < 5 * 0.3 / 200


def test_cutout_blots_a_square_that_may_hang_over() -> None:
    gone = (cutout(4, fill=-1.0)(images(300, 2, 10, 10)) == -1).long()
    assert torch.equal(gone[:, 0], gone[:, 1])
    rows, columns = gone[:, 0].amax(2).sum(1), gone[:, 0].amax(1).sum(1)
    assert torch.equal(gone[:, 0].sum((1, 2)), rows * columns)
    assert (rows.min(), rows.max(), columns.max()) == (2, 4, 4)


def test_composition_applies_the_first_first() -> None:
    both = compose(lambda x: x + 1, lambda x: 2 * x)
    assert both(torch.ones(1)).item() == 4
    assert compose()(torch.ones(1)).item() == 1


def test_an_affine_map_that_would_collapse_the_image_is_refused() -> None:
    with pytest.raises(InputError, match="`scaling` must be a number from 0 to below 1"):
        affine(scaling=1.0)


def test_color_jitter_keeps_the_range_and_changes_each_image_in_its_own_way() -> None:
    torch.manual_seed(0)
    x = torch.rand(6, 3, 5, 5)
    torch.testing.assert_close(color_jitter(0.0)(x), x)
    changed = color_jitter(0.5)(x)
    assert changed.min() >= 0 and changed.max() <= 1
    even = torch.full((6, 1, 5, 5), 0.4)  # no contrast and no colors: brightness alone
    seen = color_jitter(0.5)(even)
    assert (seen == seen[:, :, :1, :1]).all()
    assert len(seen[:, 0, 0, 0].unique()) == 6
    assert ((seen >= 0.2 - 1e-6) & (seen <= 0.6 + 1e-6)).all()
    gray = torch.rand(4, 1, 5, 5).expand(4, 3, 5, 5)
    tinted = color_jitter(0.5)(gray)
    torch.testing.assert_close(tinted, tinted[:, :1].expand_as(tinted))

"""What an augmentation of clouds may change, and what it may not."""

import math

import pytest
import torch

from chainrule.errors import InputError
from chainrule.learning.point_augmentation import (
    drop_points,
    jitter,
    random_flip,
    random_rotation,
    random_scale,
    sample_points,
)

EVERY = [
    jitter(0.1, 0.2),
    random_rotation(),
    random_scale(0.2),
    random_flip(),
    drop_points(0.8),
    sample_points(20),
]


@pytest.fixture
def x() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(200, 50, 3)


@pytest.mark.parametrize("augment", EVERY)
def test_it_follows_torchs_seed_and_leaves_its_input_alone(augment, x) -> None:
    before = x.clone()
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(augment(x))
    assert torch.equal(results[0], results[1]) and not torch.equal(results[0], results[2])
    assert torch.equal(x, before)
    assert results[0].dtype == x.dtype


def test_jitter_is_noise_of_that_spread_cut_off_and_leaves_normals(x) -> None:
    moved = jitter(0.1, 0.15)(x) - x
    assert moved.abs().max() <= 0.15 + 1e-6
    assert moved.abs().gt(0.149).float().mean() == pytest.approx(0.134, abs=0.01)  # 2 (1 - Φ(1.5))
    assert moved[moved.abs() < 0.149].std() == pytest.approx(0.074, abs=0.003)
    six = torch.cat([x, x], 2)
    assert torch.equal(jitter(0.1, 0.15)(six)[..., 3:], x)


def test_a_turn_keeps_heights_distances_and_the_angle_to_normals(x) -> None:
    six = torch.cat([x, 2 * x.roll(1, 1)], 2)
    y = random_rotation(180.0)(six)
    torch.testing.assert_close(y[..., 2::3], six[..., 2::3])
    torch.testing.assert_close(y[..., :3].norm(dim=2), x.norm(dim=2))
    dots = [(c[..., :3] * c[..., 3:]).sum(2) for c in (six, y)]
    torch.testing.assert_close(*dots, atol=1e-5, rtol=1e-5)


def test_turns_are_uniform_up_to_their_limit_and_one_per_cloud(x) -> None:
    for degrees, expected in ((180.0, 180 / math.sqrt(3)), (30.0, 30 / math.sqrt(3))):
        y = random_rotation(degrees)(x)
        angles = torch.atan2(y[..., 1], y[..., 0]) - torch.atan2(x[..., 1], x[..., 0])
        angles = (angles + math.pi) % (2 * math.pi) - math.pi
        torch.testing.assert_close(
            angles.cos(), angles[:, :1].cos().expand(-1, 50), atol=1e-4, rtol=0
        )
        found = angles[:, 0].rad2deg()
        assert found.abs().max() <= degrees + 1e-3
        assert found.square().mean().sqrt() == pytest.approx(expected, rel=0.15)


def test_a_turn_in_the_plane_is_against_the_clock() -> None:
    torch.manual_seed(3)
    angle = math.radians(40) * (2 * torch.rand(1) - 1)
    torch.manual_seed(3)
    y = random_rotation(40.0, dimensions=2)(torch.tensor([[[1.0, 0.0]]]))
    torch.testing.assert_close(y[0, 0], torch.stack([angle.cos(), angle.sin()])[:, 0])


def test_a_mirror_changes_signs_of_level_axes_of_all_vectors_in_half_of_the_clouds(x) -> None:
    six = torch.cat([x, x.roll(1, 1)], 2)
    signs = random_flip()(six) / six
    torch.testing.assert_close(signs, signs[:, :1].expand_as(signs))
    one = signs[:, 0]
    assert torch.equal(one[:, :3], one[:, 3:]) and (one[:, 2] == 1).all()
    kinds = (one[:, 0] < 0).long() + 2 * (one[:, 1] < 0)
    assert (kinds.bincount() / len(x) - 0.25).abs().max() < 0.1
    flat = random_flip(dimensions=2)(x[..., :2]) / x[..., :2]
    assert (flat < 0).float().mean() == pytest.approx(0.5, abs=0.1)


def test_every_axis_of_a_cloud_is_stretched_by_itself(x) -> None:
    factors = random_scale(0.2)(x) / x
    torch.testing.assert_close(factors, factors[:, :1].expand_as(factors))
    assert 0.8 <= factors.min() < 0.83 and 1.17 < factors.max() <= 1.2 + 1e-6
    assert (factors[:, 0].std(1) > 0).all()


def test_dropped_points_lie_on_the_first_and_their_share_varies(x) -> None:
    y = drop_points(0.8)(x)
    gone = (y == x[:, :1]).all(2)[:, 1:]
    assert torch.equal(y[:, 1:][~gone], x[:, 1:][~gone])
    shares = gone.float().mean(1)
    assert shares.mean() == pytest.approx(0.4, abs=0.03)
    assert shares.min() < 0.1 and shares.max() > 0.6
    assert torch.equal(drop_points(0.0)(x), x)


def test_some_points_are_a_subset_without_repetition_and_all_equally_likely(x) -> None:
    numbered = torch.arange(50.0).expand(400, 50)[..., None]
    y = sample_points(20)(numbered)[..., 0]
    assert y.shape == (400, 20)
    assert all(len(row.unique()) == 20 for row in y)
    assert (y.flatten().long().bincount(minlength=50) / 400 - 0.4).abs().max() < 0.12
    assert torch.equal(sample_points(50)(x), x) and torch.equal(sample_points(99)(x), x)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: jitter(-0.1, 0.2),
        lambda: jitter(0.1, float("nan")),
        lambda: random_rotation(-1.0),
        lambda: random_scale(1.0),
        lambda: drop_points(1.1),
        lambda: sample_points(0),
        lambda: random_scale(0.1)(torch.zeros(2, 3, 6)),
        *(lambda augment=augment: augment(torch.zeros(2, 3)) for augment in EVERY),
    ],
)
def test_what_makes_no_sense_is_refused(wrong) -> None:
    with pytest.raises(InputError):
        wrong()

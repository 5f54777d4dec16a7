"""Digit scenes: labels and pixels agree, digits lie in their quarters, thresholds fail."""

import pytest
import torch
from torch import Tensor

from chainrule.data.datasets import digit_scenes
from chainrule.data.readers.images.idx import FILES
from chainrule.data.splits import Split

TEST_IMAGES = list(FILES)[2]


@pytest.fixture(scope="module")
def made(big_data) -> Split:
    return digit_scenes.scenes(big_data / "mnist" / TEST_IMAGES, 200, seed=0)


def test_ink_is_of_one_gray_but_for_the_noise(made):
    for x, y in zip(made.x[:50, 0], made.y[:50], strict=True):
        ink = x[(y > 0) & (x > 0) & (x < 1)]  # beyond 0 and 1 the noise is cut off
        assert ink.numel() > 10
        assert ink.std() < 0.06


def test_ink_is_brighter_than_the_ground_in_half_of_the_scenes(made):
    x, ink = made.x[:, 0], made.y > 0
    mean = [(p[m].mean() > p[~m].mean()).item() for p, m in zip(x, ink, strict=True)]
    assert 70 < sum(mean) < 130


def overlap(found: Tensor, ink: Tensor) -> float:
    return ((found & ink).sum() / (found | ink).sum()).item()


def test_no_threshold_finds_the_ink(made):
    x, ink = made.x[:, 0], made.y > 0
    grays = torch.linspace(0.05, 0.95, 19)
    assert max(max(overlap(x > t, ink), overlap(x < t, ink)) for t in grays) < 0.4


def test_not_even_a_threshold_for_each_scene_finds_it(made):
    grays, found = torch.linspace(0.05, 0.95, 37), []
    for x, ink in zip(made.x[:, 0], made.y > 0, strict=True):
        found.append(max(max(overlap(x > t, ink), overlap(x < t, ink)) for t in grays))
    assert sum(found) / len(found) < 0.85


def test_a_sixth_of_a_scene_is_ink(made):
    assert made.y.unique().tolist() == [0, 1]
    assert 0.08 < made.y.double().mean() < 0.25


def test_a_blot_comes_to_lie_in_each_quarter():
    blot = torch.zeros(40, 28, 28)
    blot[:, 12:16, 12:16] = 1
    placed = digit_scenes.transformed(blot, torch.Generator().manual_seed(1)).view(10, 4, 48, 48)
    along = torch.arange(48) + 0.5
    mass = placed.sum((2, 3))
    down, right = (placed.sum(3) @ along) / mass, (placed.sum(2) @ along) / mass
    for place, (top, left) in enumerate([(12, 12), (12, 36), (36, 12), (36, 36)]):
        for found, middle in ((down, top), (right, left)):
            gap = (found[:, place] - middle).abs()
            assert 0.3 < gap.max() <= digit_scenes.MAX_SHIFT + 0.1


def test_enlarging_and_turning_keep_the_ink():
    bar = torch.zeros(400, 28, 28)
    bar[:, 6:22, 12:16] = 1
    placed = digit_scenes.transformed(bar, torch.Generator().manual_seed(2))
    area = placed.sum((1, 2)) / 64
    assert 0.78 < area.min() < 0.85 and 1.38 < area.max() < 1.5  # 0.9² to 1.2²


def test_the_same_seed_draws_the_same_scenes(big_data):
    path = big_data / "mnist" / TEST_IMAGES
    first, again, other = (digit_scenes.scenes(path, 3, seed) for seed in (5, 5, 6))
    assert torch.equal(first.x, again.x) and torch.equal(first.y, again.y)
    assert not torch.equal(first.x, other.x)

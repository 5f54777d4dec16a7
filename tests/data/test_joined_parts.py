"""Objects of labeled solids, and the solids' surfaces."""

import math

import numpy as np
import pytest
import torch

from chainrule.data.datasets import joined_parts
from chainrule.data.datasets.joined_parts import CLASSES, KINDS, objects, sample_object
from chainrule.data.solids import box, cylinder, disc, frustum, half_torus, moved, rotation, union

NUMBER = 40_000


def points_on(surface, seed: int = 0) -> np.ndarray:
    return surface.sample(NUMBER, np.random.default_rng(seed))


def test_areas_by_hand() -> None:
    assert frustum(2.0, 2.0, 3.0).area == pytest.approx(2 * math.pi * 2 * 3)
    assert frustum(3.0, 0.0, 4.0).area == pytest.approx(math.pi * 3 * 5)
    assert disc(2.0).area == pytest.approx(4 * math.pi)
    assert cylinder(2.0, 3.0).area == pytest.approx(2 * math.pi * 2 * 3 + 8 * math.pi)
    assert box(1.0, 2.0, 3.0).area == pytest.approx(22)
    assert half_torus(2.0, 0.5).area == pytest.approx(2 * math.pi**2)


def test_points_lie_on_their_surfaces_the_same_number_per_area() -> None:
    x, y, z = points_on(frustum(3.0, 1.0, 2.0)).T
    radius = np.hypot(x, y)
    assert radius == pytest.approx(3 - z)
    below = math.pi * (3 + 2) * math.hypot(1, 1) / frustum(3.0, 1.0, 2.0).area  # of height 1
    assert (z < 1).mean() == pytest.approx(below, abs=0.01)
    radius = np.linalg.norm(points_on(disc(2.0)), axis=1)
    assert (radius < 1).mean() == pytest.approx(1 / 4, abs=0.01)
    flat = points_on(box(1.0, 2.0, 3.0))
    on_face = np.isclose(np.abs(flat), [0.5, 1.0, 1.5])
    assert on_face.any(1).all()
    assert on_face.mean(0) == pytest.approx([12 / 22, 6 / 22, 4 / 22], abs=0.01)


def test_half_a_ring_is_a_tube_about_a_half_circle_with_more_points_outside() -> None:
    x, y, z = points_on(half_torus(2.0, 0.5)).T
    from_axis = np.hypot(x, z)
    assert np.hypot(from_axis - 2, y) == pytest.approx(0.5)
    assert x.min() >= 0 and z.min() < -2.3 and z.max() > 2.3
    outer = 0.5 + 0.5 / (math.pi * 2)  # 1/2πR ∫ R + r cos v over cos v > 0, R = 2, r = ½
    assert (from_axis > 2).mean() == pytest.approx(outer, abs=0.01)


def test_joined_surfaces_share_points_by_area_and_move_together() -> None:
    two = union(disc(1.0), moved(disc(2.0), (0.0, 0.0, 5.0)))
    assert (points_on(two)[:, 2] == 5).mean() == pytest.approx(4 / 5, abs=0.01)
    point = np.array([1.0, 0.0, 0.0]) @ rotation(math.pi / 2)
    assert point == pytest.approx([0, 1, 0], abs=1e-12), "counterclockwise"
    far = moved(box(1.0, 1.0, 1.0), (9.0, 0.0, 0.0), math.pi / 2)
    assert points_on(far).mean(0) == pytest.approx([0, 9, 0], abs=0.02)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_kind_has_its_parts_in_the_cube(kind) -> None:
    generator = np.random.default_rng(0)
    for _ in range(5):
        parts = kind(generator)
        assert all(name.split()[0] == kind.__name__ for name in parts)
        x, y = sample_object(parts, generator)
        assert x.shape == (512, 3) and np.abs(x).max() == pytest.approx(1)
        assert {CLASSES[k] for k in y} == set(parts)
        assert (np.diff(y) != 0).sum() > 10, "the points of a part stand together"


def test_labels_belong_to_their_points() -> None:
    x, y = objects(8, seed=3)
    tables, rockets = (x[0], y[0]), (x[3], y[3])
    top, leg = (tables[0][tables[1] == CLASSES.index(f"table {n}"), 2] for n in ("top", "leg"))
    assert top.min() >= leg.max() - 1e-5
    nose, fin = (rockets[0][rockets[1] == CLASSES.index(f"rocket {n}"), 2] for n in ("nose", "fin"))
    assert nose.min() > fin.max()


def test_the_seed_decides_and_test_objects_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined_parts, "TRAINING", 12)
    monkeypatch.setattr(joined_parts, "TEST", 4)
    one, two = (joined_parts.load(seed=seed, validation=4) for seed in (0, 1))
    assert torch.equal(one.test.x, two.test.x) and len(one.train.x) == 8
    assert not torch.equal(one.validation.x, two.validation.x)
    assert not any(torch.equal(a, b) for a in one.test.x for b in one.train.x)

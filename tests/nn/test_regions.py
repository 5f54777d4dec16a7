"""Regions against Zaslavsky's number, against dense sampling, and against the network itself."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.regions import (
    PlaneRegions,
    layer_regions,
    montufar,
    pattern,
    plane_regions,
    zaslavsky,
)


def layer(m: int, n: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    return (
        torch.randn(m, n, generator=g, dtype=torch.float64),
        torch.randn(m, generator=g, dtype=torch.float64),
    )


def network(*sizes: int, seed: int = 0) -> list[nn.Linear]:
    torch.manual_seed(seed)
    return [nn.Linear(n, m).double() for n, m in pairwise(sizes)]


def outputs(layers: list[nn.Linear], x: Tensor) -> Tensor:
    for linear in layers[:-1]:
        x = linear(x).relu()
    return layers[-1](x).detach()


def sampled_patterns(layers: list[nn.Linear], x: Tensor) -> Tensor:
    found = []
    for linear in layers[:-1]:
        z = linear(x)
        found.append(z > 0)
        x = z.relu()
    return torch.cat(found, dim=1)


def area(polygon: Tensor) -> float:
    x, y = polygon.T
    return 0.5 * float((x * y.roll(-1) - x.roll(-1) * y).sum())


def test_zaslavsky_by_hand() -> None:
    assert [zaslavsky(m, 2) for m in range(5)] == [1, 2, 4, 7, 11]
    assert zaslavsky(3, 10) == 2**3


def test_montufar_by_hand() -> None:
    assert montufar(2, 4, 1) == zaslavsky(4, 2) == 11
    assert montufar(2, 4, 3) == 11 * 2 ** (2 * 2)
    assert montufar(1, 3, 4) == 4 * 3**3


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 10**6))
def test_random_hyperplanes_meet_zaslavskys_number(m: int, n: int, seed: int) -> None:
    W, b = layer(m, n, seed)
    regions = layer_regions(W, b)
    assert len(regions) == zaslavsky(m, n)
    assert len(regions.patterns.unique(dim=0)) == len(regions)
    assert torch.equal(pattern(W, b, regions.points), regions.patterns)


def test_dense_sampling_finds_no_region_that_was_missed() -> None:
    W, b = layer(6, 2, seed=3)
    known = {tuple(row) for row in layer_regions(W, b).patterns.tolist()}
    x = 20 * torch.randn(100_000, 2, dtype=torch.float64)
    assert {tuple(row) for row in pattern(W, b, x).unique(dim=0).tolist()} <= known


def test_hyperplanes_through_the_origin_have_fewer_regions() -> None:
    W, b = layer(5, 2)
    assert len(layer_regions(W, torch.zeros_like(b))) == 2 * 5


def test_parallel_equal_and_missing_hyperplanes_are_counted_right() -> None:
    W = torch.tensor([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    b = torch.tensor([0.0, -2.0, 0.0, 1.0, 0.0])
    regions = layer_regions(W, b)
    # x₁ < 0, 0 < x₁ < 1 and x₁ > 1; the units without weights are on and off throughout.
    assert sorted(regions.patterns.int().tolist()) == [
        [0, 0, 1, 1, 0],
        [1, 0, 0, 1, 0],
        [1, 1, 0, 1, 0],
    ]


def test_one_layer_on_a_large_square_has_all_its_regions() -> None:
    layers = network(2, 7, 1)
    regions = plane_regions(layers, torch.zeros(2), torch.eye(2), radius=1e4)
    assert len(regions) == zaslavsky(7, 2) == 29


def test_a_repeated_unit_cuts_nothing_and_goes_with_the_first() -> None:
    layers = network(2, 6, 1)
    with torch.no_grad():
        layers[0].weight[3:] = 2 * layers[0].weight[:3]
        layers[0].bias[3:] = 2 * layers[0].bias[:3]
    regions = plane_regions(layers, torch.zeros(2), torch.eye(2), radius=1e4)
    assert len(regions) == zaslavsky(3, 2)
    assert torch.equal(regions.patterns[:, 3:], regions.patterns[:, :3])


@pytest.fixture(scope="module")
def deep() -> tuple[list[nn.Linear], PlaneRegions, Tensor, Tensor]:
    layers = network(5, 12, 12, 12, 3, seed=2)
    origin, directions = torch.randn(5).double(), torch.randn(2, 5).double()
    return layers, plane_regions(layers, origin, directions, 3.0), origin, directions


def test_the_polygons_tile_the_square(deep: tuple) -> None:
    _, regions, _, _ = deep
    areas = [area(polygon) for polygon in regions.polygons]
    assert min(areas) > 0  # corners in positive order: the polygons are convex and none is empty
    assert sum(areas) == pytest.approx(36)


def test_on_each_polygon_the_network_is_the_affine_map(deep: tuple) -> None:
    layers, regions, origin, directions = deep
    for r, polygon in enumerate(regions.polygons):
        u = torch.cat([polygon, polygon.mean(0, keepdim=True)])
        expected = outputs(layers, origin + u @ directions)
        torch.testing.assert_close(u @ regions.weights[r].T + regions.biases[r], expected)


def test_the_pattern_is_that_of_the_middle(deep: tuple) -> None:
    layers, regions, origin, directions = deep
    middle = torch.stack([polygon.mean(0) for polygon in regions.polygons])
    assert torch.equal(sampled_patterns(layers, origin + middle @ directions), regions.patterns)
    assert len(regions.patterns.unique(dim=0)) == len(regions)


def test_dense_sampling_of_the_square_finds_no_other_pattern(deep: tuple) -> None:
    layers, regions, origin, directions = deep
    u = 6 * torch.rand(100_000, 2, dtype=torch.float64) - 3
    seen = sampled_patterns(layers, origin + u @ directions).unique(dim=0)
    assert {tuple(row) for row in seen.tolist()} <= {
        tuple(row) for row in regions.patterns.tolist()
    }
    assert len(seen) > 0.5 * len(regions)


def test_a_plane_of_the_wrong_dimension_is_refused() -> None:
    with pytest.raises(InputError, match="3 coordinates but the network takes 2"):
        plane_regions(network(2, 4, 1), torch.zeros(3), torch.eye(3)[:2], 1.0)

"""Cells and linear regions on a box: by hand, against the polygons of a plane, and by law."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.box_regions import box_cells, linear_regions
from chainrule.nn.regions import plane_regions, zaslavsky


def network(*sizes: int, seed: int = 0) -> list[nn.Linear]:
    torch.manual_seed(seed)
    return [nn.Linear(n, m).double() for n, m in pairwise(sizes)]


def one_hidden_layer(W: list, b: list, outer: list) -> list[nn.Linear]:
    layers = [nn.Linear(len(W[0]), len(W)).double(), nn.Linear(len(W), 1).double()]
    with torch.no_grad():
        layers[0].weight.copy_(torch.tensor(W))
        layers[0].bias.copy_(torch.tensor(b))
        layers[1].weight.copy_(torch.tensor([outer]))
    return layers


def box(n: int, radius: float) -> tuple[Tensor, Tensor]:
    return -radius * torch.ones(n).double(), radius * torch.ones(n).double()


def test_the_cells_of_a_plane_are_its_polygons() -> None:
    layers = network(2, 6, 5, 2, seed=1)
    polygons = plane_regions(layers, torch.zeros(2), torch.eye(2), 2.0)
    cells = box_cells(layers, *box(2, 2.0))
    found, expected = (
        sorted(map(tuple, part.patterns.int().tolist())) for part in (cells, polygons)
    )
    assert found == expected


def test_one_layer_in_three_dimensions_has_zaslavskys_number() -> None:
    cells = box_cells(network(3, 5, 1, seed=2), *box(3, 1e3))
    assert len(cells) == zaslavsky(5, 3) == 26


def test_at_the_point_of_each_cell_the_network_is_its_affine_map() -> None:
    layers = network(3, 4, 4, 2, seed=3)
    cells = box_cells(layers, *box(3, 2.0))
    x = cells.points
    f = (cells.weights @ x[:, :, None])[:, :, 0] + cells.biases
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    torch.testing.assert_close(f, model(x).detach())


def test_a_kink_that_cancels_separates_cells_but_no_regions() -> None:
    """x₊ - (-x)₊ = x."""
    cells = box_cells(one_hidden_layer([[1.0], [-1.0]], [0.0, 0.0], [1.0, -1.0]), *box(1, 1.0))
    assert len(cells) == 2
    assert linear_regions(cells).tolist() == [0, 0]


def test_equal_maps_that_do_not_touch_are_two_regions() -> None:
    """A hat is zero on both sides."""
    hat = one_hidden_layer([[1.0]] * 3, [1.0, 0.0, -1.0], [1.0, -2.0, 1.0])
    cells = box_cells(hat, *box(1, 2.0))
    assert torch.equal(cells.weights.flatten().sort().values, torch.tensor([-1.0, 0, 0, 1]))
    assert len(linear_regions(cells).unique()) == 4


def test_the_constant_network_is_one_region_of_all_cells() -> None:
    layers = network(2, 4, 3, 1, seed=4)
    nn.init.zeros_(layers[-1].weight)
    cells = box_cells(layers, *box(2, 3.0))
    assert len(cells) > 4
    assert linear_regions(cells).unique().tolist() == [0]


def test_quadrants_on_which_only_a_ridge_bends_are_two_half_planes() -> None:
    """x₁₊ with a second unit that is not read: four cells, two regions."""
    layers = one_hidden_layer([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [1.0, 0.0])
    cells = box_cells(layers, *box(2, 1.0))
    region = linear_regions(cells)
    assert len(cells) == 4
    right = cells.points[:, 0] > 0
    assert region[right].unique().numel() == region[~right].unique().numel() == 1
    assert region.unique().numel() == 2


def test_a_box_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(InputError, match="must have 2 sides"):
        box_cells(network(2, 3, 1), *box(3, 1.0))

"""The uniform distance: by hand, between grid points, in two dimensions, and what it refuses."""

import pytest
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.nn.sup_norm import sup_distance


def zero(x: Tensor) -> Tensor:
    return 0 * x[:, 0]


def box(n: int) -> tuple[Tensor, Tensor]:
    return -torch.ones(n).double(), torch.ones(n).double()


def test_a_peak_between_the_grid_points_is_climbed() -> None:
    def hill(x: Tensor) -> Tensor:
        return 2 - (x[:, 0] - 0.12345).abs()

    assert sup_distance(hill, zero, *box(1), points=11, refinements=0) < 1.99
    assert sup_distance(hill, zero, *box(1), points=11) == pytest.approx(2, abs=1e-7)


def test_a_saddle_takes_its_largest_value_at_a_corner() -> None:
    found = sup_distance(lambda x: x.prod(1), lambda x: x.sum(1)[:, None], *box(2), points=7)
    assert found == pytest.approx(3)  # |1 + 2| at (-1, -1)


def test_it_is_a_value_that_the_difference_takes() -> None:
    def waves(x: Tensor) -> Tensor:
        return (5 * x[:, 0]).sin() * (3 * x[:, 1]).cos()

    assert sup_distance(waves, zero, *box(2), points=21) == pytest.approx(1, abs=1e-9)
    assert sup_distance(waves, zero, *box(2), points=21) <= 1


def test_not_a_number_is_infinitely_far() -> None:
    assert sup_distance(lambda x: x[:, 0].sqrt(), zero, *box(1)) == torch.inf


def test_an_empty_box_and_a_huge_grid_are_refused() -> None:
    low, high = box(4)
    with pytest.raises(InputError, match="corners of one box"):
        sup_distance(zero, zero, high, low)
    with pytest.raises(InputError, match="at most 56"):
        sup_distance(zero, zero, low, high)

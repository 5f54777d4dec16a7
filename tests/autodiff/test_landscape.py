"""Planes of weight space on functions whose values are known."""

import pytest
import torch
from torch import nn

from chainrule.autodiff.landscape import filter_normalized, plane, principal_directions
from chainrule.errors import InputError
from chainrule.plots.landscape import loss_landscape


def test_rows_have_the_length_of_their_filters_and_biases_stay() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(4, 3)
    d = filter_normalized(layer, seed=1)
    torch.testing.assert_close(d[:12].view(3, 4).norm(dim=1), layer.weight.detach().norm(dim=1))
    assert (d[12:] == 0).all()


def test_a_plane_has_rows_of_b_and_columns_of_a() -> None:
    axes = torch.eye(3)[:2]
    found = plane(
        lambda t: t[0] + 10 * t[1] + t[2], torch.ones(3), axes, torch.arange(3.0), torch.arange(2.0)
    )
    assert found.tolist() == [[12, 13, 14], [22, 23, 24]]


def test_the_axes_of_a_path_span_it() -> None:
    path = torch.tensor([[4.0, 0, 0], [0, 2, 0], [0, 0, 0]])
    first, second = principal_directions(path)
    torch.testing.assert_close(first.abs(), torch.tensor([1.0, 0, 0]))
    torch.testing.assert_close(second.abs(), torch.tensor([0, 1.0, 0]))


def test_losses_of_another_shape_or_sign_are_refused() -> None:
    with pytest.raises(InputError, match="positive losses of shape 2 × 3"):
        loss_landscape([0, 1, 2], [0, 1], torch.zeros(2, 3), {})


def test_every_path_is_drawn_with_its_end() -> None:
    path = [[0.0, 0.0], [1.0, 0.5]]
    figure = loss_landscape([0, 1, 2], [0, 1], torch.rand(2, 3) + 0.1, {"gd": path, "adam": path})
    lines = figure.axes[0].lines
    assert [len(line.get_xdata()) for line in lines] == [2, 1, 2, 1]
    assert lines[1].get_xydata().tolist() == [[1.0, 0.5]]

"""A grid of functions of the plane."""

import doctest
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots import planes
from chainrule.plots.planes import function_grid


def test_every_function_has_its_place() -> None:
    figure = function_grid(
        {"row": [lambda x: x[:, 0], lambda x: 0 * x[:, 0]]}, ["left", "right"], radius=1.0
    )
    assert isinstance(figure, Figure)
    assert [axes.get_title() for axes in figure.axes] == ["left", "right"]
    left, right = (np.asarray(axes.images[0].get_array()) for axes in figure.axes)
    assert left[0, 0] == -1 and left[-1, -1] == 1 and not right.any()


def test_rows_are_as_long_as_there_are_columns() -> None:
    with pytest.raises(InputError, match="expected 2 functions in every row"):
        function_grid({"row": [lambda x: x[:, 0]]}, ["a", "b"])
    with pytest.raises(InputError, match="`radius` must be above 0"):
        function_grid({"row": [lambda x: x[:, 0]]}, ["a"], radius=0.0)


def test_the_example_draws_random_networks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(planes) == (0, 6)
    assert (tmp_path / "random-networks.png").stat().st_size > 10_000

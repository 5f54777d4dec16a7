"""What the pictures of agents show, read back from the figures."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation

from chainrule.errors import InputError
from chainrule.plots.environments import (
    cart_pole_strip,
    contraction,
    evenly_spaced,
    film_strip,
    grid_values,
    observation_curves,
    return_curve,
)

ROWS = ("S.G", ".#X")
VALUES = np.array([[0.5, 0.75, 0.0], [0.25, np.nan, 0.0]])
POLICY = np.array([[1, 1, 0], [0, 0, 0]])


def x_of(line: Line2D) -> np.ndarray:
    return np.asarray(line.get_xdata())


def y_of(line: Line2D) -> np.ndarray:
    return np.asarray(line.get_ydata())


def arrows(figure: Figure) -> list[tuple[float, float]]:
    """Direction of every arrow, (right, down)."""
    found = [text for text in figure.axes[0].texts if isinstance(text, Annotation)]
    return [(round(a.xy[0] - a.xyann[0], 3), round(a.xy[1] - a.xyann[1], 3)) for a in found]


def test_every_open_cell_has_its_value_and_its_arrow() -> None:
    figure = grid_values(ROWS, VALUES, POLICY)
    words = [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    assert sorted(words) == ["0.25", "0.50", "0.75", "goal", "trap"]
    assert arrows(figure) == [(0.4, 0), (0.4, 0), (0, -0.4)]
    cells = [p for p in figure.axes[0].patches if isinstance(p, Rectangle) and p.get_width() == 1]
    assert len(cells) == 6


def test_a_map_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match="2 × 3 cells, got 1 × 3"):
        grid_values(ROWS, VALUES[:1], POLICY[:1])


def history(low: float, high: float) -> list[dict[str, float]]:
    return [
        {
            "steps": 100.0 * e,
            "validation_return": 10.0 * e,
            "validation_low": 10.0 * e - low,
            "validation_high": 10.0 * e + high,
        }
        for e in range(1, 5)
    ]


def test_several_agents_are_drawn_as_mean_and_band() -> None:
    axes = return_curve(history(5, 7), reference=("best", 60.0)).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    assert y_of(lines["greedy"]).tolist() == [10, 20, 30, 40]
    assert x_of(lines["greedy"]).tolist() == [100, 200, 300, 400]
    band = np.asarray(axes.collections[0].get_paths()[0].vertices)
    assert {5.0, 17.0, 47.0} <= set(band[:, 1])
    assert y_of(lines["reference"])[0] == 60
    assert "percentile" in axes.get_title(loc="left")


def test_a_single_agent_has_no_band() -> None:
    axes = return_curve(history(0, 0)).axes[0]
    assert not axes.collections
    assert "band" not in axes.get_title(loc="left")


def test_what_was_earned_while_exploring_is_drawn_where_it_is_known() -> None:
    rows = [row | {"train_return": 3.0} for row in history(0, 0)]
    rows[0].pop("train_return")
    lines = {line.get_label(): line for line in return_curve(rows).axes[0].lines}
    assert y_of(lines["exploring"]).tolist() == [3, 3, 3]
    assert (x_of(lines["kept"]).tolist(), y_of(lines["kept"]).tolist()) == ([400], [40])


def test_a_history_without_figures_is_refused() -> None:
    with pytest.raises(InputError, match="validation_return"):
        return_curve([{"steps": 1.0}])


def test_the_bound_of_a_contraction_is_a_geometric_series() -> None:
    measured, bound = contraction(np.array([1.0, 0.4, 0.1]), 0.5).axes[0].lines
    assert y_of(measured).tolist() == [1.0, 0.4, 0.1]
    assert y_of(bound).tolist() == [1.0, 0.5, 0.25]


def test_the_pole_is_drawn_at_its_angle_on_its_cart() -> None:
    carts = np.zeros((101, 4))
    carts[100] = [1.5, 0, np.pi / 6, 0]
    figure = cart_pole_strip(carts, 0.02, "an episode")
    assert len(figure.axes) == 8
    pole = figure.axes[-1].lines[-1]
    np.testing.assert_allclose(x_of(pole), [1.5, 2.0])
    np.testing.assert_allclose(np.diff(y_of(pole)), np.cos(np.pi / 6))
    assert figure.axes[-1].get_title(loc="left") == "2.0 s, +30.0°"


def test_a_short_episode_has_fewer_pictures() -> None:
    assert len(cart_pole_strip(np.zeros((3, 4)), 0.02, "short").axes) == 3
    assert evenly_spaced(3, 8) == [0, 1, 2]
    assert evenly_spaced(100, 4) == [0, 33, 66, 99]


def test_frames_are_shown_as_they_are() -> None:
    frames = [np.full((4, 6, 3), k, np.uint8) for k in range(5)]
    figure = film_strip(frames, [f"step {k}" for k in range(5)], "an episode")
    shown = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images]
    assert [int(image[0, 0, 0]) for image in shown] == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="a title for every frame"):
        film_strip(frames, ["one"], "")


def test_observations_are_a_curve_each() -> None:
    lines = observation_curves(np.arange(12.0).reshape(4, 3), "episode").axes[0].lines
    assert [y_of(line).tolist() for line in lines] == [
        [0, 3, 6, 9],
        [1, 4, 7, 10],
        [2, 5, 8, 11],
    ]

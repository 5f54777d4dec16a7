"""Pictures of memory: a line for each cell, a panel for each length."""

import pytest

from chainrule.errors import InputError
from chainrule.plots.memory import learning_curves_by_length, metric_by_length
from chainrule.plots.style import save

LINES = {"elman": [0.1, 0.8], "gru": [0.0, 0.3]}


def test_every_cell_has_a_line_over_the_lengths_and_a_name_at_its_end():
    (axes,) = metric_by_length((10, 100), LINES, "error", 0.875).axes
    guess, *lines = axes.lines
    assert guess.get_ydata()[0] == 0.875
    assert [list(line.get_ydata()) for line in lines] == list(LINES.values())
    assert [list(line.get_xdata()) for line in lines] == [[10, 100]] * 2
    assert {text.get_text() for text in axes.texts} == {"chance", *LINES}


def test_every_length_has_a_panel_with_the_courses_of_its_cells():
    panels = {10: {"elman": [0.9, 0.5], "gru": [0.9]}, 100: {"gru": [0.9, 0.8]}}
    figure = learning_curves_by_length(panels, "rmse", 0.4)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["length 10", "length 100"]
    first, second = figure.axes
    assert [list(line.get_ydata()) for line in first.lines[1:]] == [[0.9, 0.5], [0.9]]
    assert second.lines[1].get_color() == first.lines[2].get_color()  # a cell keeps its color


def test_a_cell_far_worse_than_guessing_is_cut_off_and_still_named(tmp_path):
    figure = metric_by_length((10, 100), LINES | {"lost": [9.0, 90.0]}, "error", 0.875)
    save(figure, tmp_path / "picture.png")
    (axes,) = figure.axes
    (name,) = [text for text in axes.texts if text.get_text() == "lost"]
    assert axes.get_ylim()[1] < 1.1 and name.get_position()[1] < 1.3


def test_figures_without_values_are_refused():
    with pytest.raises(InputError, match="each of the 2 lengths"):
        metric_by_length((10, 100), {"gru": [0.1]}, "error", 0.875)
    with pytest.raises(InputError, match="at least one length"):
        learning_curves_by_length({}, "error", 0.875)

"""Pictures of text, translation and series: what they draw and what they refuse."""

import numpy as np
import pytest

from chainrule.errors import InputError
from chainrule.plots.series import forecast
from chainrule.plots.text import COLUMNS, character_grid, surprisal
from chainrule.plots.translation import alignments, bleu_by_length

GROUPS = [(6.0, 30.0, 100), (12.5, 25.0, 80)]


def test_lines_break_where_the_text_does_and_at_the_edge() -> None:
    assert character_grid("ab\nc") == [(0, 0), (0, 1), (0, 2), (1, 0)]
    places = character_grid("x" * (COLUMNS + 2))
    assert places[COLUMNS - 1 :] == [(0, COLUMNS - 1), (1, 0), (1, 1)]


def test_surprise_shows_every_character_and_the_mean() -> None:
    axes = surprisal("to be\nor", np.array([1.0, 3.0, 0, 0, 0, 0, 8.0, 0])).axes[0]
    assert "".join(text.get_text() for text in axes.texts) == "to be↵or"
    assert "1.50 bits" in axes.get_title(loc="left")
    pale, dark = axes.patches[2].get_facecolor(), axes.patches[6].get_facecolor()
    assert sum(pale[:3]) > 2.9 and sum(dark[:3]) < 1.5


def test_an_alignment_has_a_row_for_each_word_written() -> None:
    weights = np.array([[0.9, 0.1, 0.0], [0.0, 0.2, 0.8]])
    figure = alignments([(["ein", "roter", "hund"], ["red", "dog"], weights)] * 3)
    assert len(figure.axes) == 3
    axes = figure.axes[0]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["ein", "roter", "hund"]
    assert [t.get_text() for t in axes.get_yticklabels()] == ["red", "dog"]
    np.testing.assert_array_equal(axes.images[0].get_array(), weights)


def test_bleu_by_length_draws_a_line_for_each_model() -> None:
    figure = bleu_by_length({"plain": GROUPS, "attention": GROUPS})
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["plain", "attention"]
    np.testing.assert_array_equal(lines[0].get_xydata(), [[6.0, 30.0], [12.5, 25.0]])
    assert [t.get_text() for t in figure.axes[0].texts] == ["100", "80"]


def test_a_forecast_stands_beside_what_came() -> None:
    axes = forecast(np.array([1.0, 2.0]), np.array([0.5, 1.5]), "title").axes[0]
    assert [line.get_ydata().tolist() for line in axes.get_lines()[1:]] == [[1.0, 2.0], [0.5, 1.5]]


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="equal lengths, got text 2, bits 1"):
        surprisal("ab", [1.0])
    with pytest.raises(InputError, match="expected a text"):
        surprisal("", np.zeros(0))
    with pytest.raises(InputError, match=r"expected weights of shape \(1, 2\)"):
        alignments([(["a", "b"], ["c"], np.ones((2, 2)))])
    with pytest.raises(InputError, match="at least one sentence"):
        alignments([])
    with pytest.raises(InputError, match="at least one group"):
        bleu_by_length({"plain": []})
    with pytest.raises(InputError, match="truth 1, predicted 2"):
        forecast([1.0], [1.0, 2.0])

"""Saving, the look, and the checks that every figure shares."""

import errno
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from chainrule.errors import InputError
from chainrule.plots.boundaries import decision_boundary, linear_regions
from chainrule.plots.checks import array, labels, same_lengths
from chainrule.plots.claims import claim_figure
from chainrule.plots.curves import learning_curves
from chainrule.plots.images import image_grid, recalled_patterns, worst_mistakes
from chainrule.plots.predictions import confusion_matrix, predicted_against_true, roc_curves
from chainrule.plots.style import ZERO_WIDTH, End, Powers, canvas, label_ends, save, shortened, tint
from chainrule.plots.surfaces import decision_surface

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def score(x: np.ndarray) -> np.ndarray:
    return x[:, 0] - x[:, 1]


FIGURES = {
    "curves": lambda: learning_curves([{"train_loss": 1.0, "validation_error": 0.1}]),
    "confusion": lambda: confusion_matrix([[3, 1], [0, 4]], ["a", "b"]),
    "roc": lambda: roc_curves({"one": ([0, 1, 1], [0.1, 0.4, 0.3])}),
    "true": lambda: predicted_against_true([1.0, 2.0], [1.1, 1.8]),
    "images": lambda: image_grid(np.eye(3)[None], ["one"]),
    "recall": lambda: recalled_patterns([[1, -1]], [[1, 1]], [[1, -1]], (1, 2)),
    "boundary": lambda: decision_boundary(score, SQUARE, [0, 1, 0, 1], ["a", "b"]),
    "surface": lambda: decision_surface(score, SQUARE, [0, 1, 0, 1], ["a", "b"]),
    "polygons": lambda: linear_regions([SQUARE], [1.0]),
    "claim": lambda: claim_figure("t", "x", "y", {"c": ([0, 1], [0, 1])}),
}


@pytest.mark.parametrize(
    ("name", "suffix"), [(name, ".svg") for name in FIGURES] + [("surface", ".png")]
)
def test_a_figure_drawn_twice_is_saved_as_the_same_bytes(
    name: str, suffix: str, tmp_path: Path
) -> None:
    first, second = (save(FIGURES[name](), tmp_path / f"{turn}{suffix}") for turn in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_neither_a_date_nor_the_drawing_software_is_written_into_the_file(tmp_path: Path) -> None:
    assert b"Software" not in save(FIGURES["claim"](), tmp_path / "a.png").read_bytes()
    assert b"<dc:date>" not in save(FIGURES["claim"](), tmp_path / "a.svg").read_bytes()


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(FIGURES["claim"](), tmp_path / "new folder" / "a.png")
    before = path.read_bytes()

    def fail(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError, match=r"a\.png: disk full; choose another folder"):
        save(FIGURES["true"](), path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_only_png_and_svg_are_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends with \.png or \.svg, got 'a\.pdf'"):
        save(canvas(), tmp_path / "a.pdf")


@pytest.mark.parametrize("name", FIGURES)
def test_drawing_changes_no_setting_of_matplotlib(name: str) -> None:
    before = dict(matplotlib.rcParams)
    assert isinstance(FIGURES[name](), Figure)
    assert dict(matplotlib.rcParams) == before


def test_settings_of_the_user_do_not_reach_our_figures(tmp_path: Path) -> None:
    plain = save(FIGURES["claim"](), tmp_path / "a.png").read_bytes()
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.facecolor": "red"}):
        assert save(FIGURES["claim"](), tmp_path / "b.png").read_bytes() == plain


def test_no_figure_loads_pyplot() -> None:
    code = (
        "import sys, chainrule.plots.surfaces, chainrule.plots.curves, chainrule.plots.claims;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


AWKWARD = ["$a_$", "_b^{"]
NAMED = {
    "confusion": lambda: confusion_matrix([[3, 1], [0, 4]], AWKWARD, title="$\\x$ wrong"),
    "roc": lambda: roc_curves({"$a_$": ([0, 1, 1], [0.1, 0.4, 0.3])}, positive="$a_$"),
    "true": lambda: predicted_against_true([1.0, 2.0], [1.1, 1.8], "$a_$", "price in $_$"),
    "mistakes": lambda: worst_mistakes(np.zeros((1, 2, 2)), [0], [1], [0.5], AWKWARD),
    "boundary": lambda: decision_boundary(score, SQUARE, [0, 1, 0, 1], AWKWARD),
    "surface": lambda: decision_surface(score, SQUARE, [0, 1, 0, 1], AWKWARD, "$a_$"),
    "claim": lambda: claim_figure("$a_$", "$_$", "$^$", {"$a_$": ([1], [1])}, marks={"$_$": 1}),
}


@pytest.mark.parametrize("name", NAMED)
def test_names_with_signs_of_mathematical_typesetting_are_written_as_they_are(
    name: str, tmp_path: Path
) -> None:
    save(NAMED[name](), tmp_path / "a.png")


def test_a_name_with_a_leading_underscore_stands_in_the_legend() -> None:
    (legend,) = NAMED["boundary"]().legends
    assert [text.get_text() for text in legend.get_texts()] == ["$a_$", f"{ZERO_WIDTH}_b^{{"]


def test_names_are_cut_where_they_stay_apart() -> None:
    assert shortened(["short", "two\nlines", "x" * 18]) == ["short", "two lines", "x" * 18]
    assert shortened(["a very long class name indeed"]) == ["a very long class…"]
    alike = shortened([f"default payment next month: {end}" for end in ("yes", "no")])
    assert alike == ["default…onth: yes", "default…month: no"]
    assert max(map(len, alike)) <= 18


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.01, "0.01"), (1e-4, "10⁻⁴"), (1e12, "10¹²")]
)
def test_powers_of_ten_are_plain_characters(value: float, text: str) -> None:
    axes = canvas().add_subplot(xscale="log", xlim=(1e-5, 1e13))
    axes.xaxis.set_major_formatter(Powers())
    assert axes.xaxis.get_major_formatter()(value) == text


def test_labels_at_line_ends_are_pushed_apart_and_stay_in_order() -> None:
    axes = canvas().add_subplot()
    axes.plot([0, 1], [0, 1])
    label_ends(axes, [End(0.5, "b", "red"), End(0.499, "a", "blue"), End(0.9, "c", "green")])
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert heights["a"] + 0.074 < heights["b"] < heights["c"]


def test_tint_runs_from_white_to_the_color() -> None:
    assert tint("#004488", 0.0) == (1, 1, 1)
    np.testing.assert_allclose(tint("#004488", 1.0), (0, 0x44 / 255, 0x88 / 255))


def test_checks_say_what_was_expected_and_what_came() -> None:
    with pytest.raises(InputError, match=r"expected x of shape \(N, 2\), got \(3,\)"):
        array("x", [1, 2, 3], "N", 2)
    with pytest.raises(InputError, match="equal lengths, got x 1, y 2"):
        same_lengths(x=[1], y=[1, 2])
    with pytest.raises(InputError, match="class labels from 0 to 1, got int64 values from -1 to 1"):
        labels("y", np.array([-1, 1]), ["a", "b"])
    with pytest.raises(InputError, match="got float64"):
        labels("y", [0.5], ["a", "b"])

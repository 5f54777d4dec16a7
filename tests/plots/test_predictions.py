"""What one sees of predictions, images and patterns."""

import numpy as np
import pytest

from chainrule.errors import InputError
from chainrule.plots.images import image_grid, overlap, recalled_patterns, worst_mistakes
from chainrule.plots.predictions import confusion_matrix, predicted_against_true, roc_curves

COUNTS = np.array([[50, 3, 0], [8, 40, 1], [0, 0, 0]])


def test_the_numbers_of_a_confusion_matrix_are_the_counts() -> None:
    axes = confusion_matrix(COUNTS, ["a", "b", "c"]).axes[0]
    written = np.zeros_like(COUNTS)
    for text in axes.texts:
        column, row = (int(place) for place in text.get_position())
        written[row, column] = int(text.get_text())
    assert (written == COUNTS).all()
    zeros = [text.get_position() for text in axes.texts if text.get_text() == "0"]
    assert zeros == [(2, 2)]


def test_only_mistakes_are_shaded_by_their_share_of_the_row() -> None:
    axes = confusion_matrix(COUNTS, ["a", "b", "c"]).axes[0]
    shades = axes.images[0].get_array()
    assert shades.mask.diagonal().all()
    assert shades[1, 0] == pytest.approx(8 / 49)
    assert axes.images[0].get_clim() == pytest.approx((0, 8 / 49))
    assert (shades[2, :2] == 0).all()


def test_a_few_mistakes_stay_pale_and_none_need_no_scale() -> None:
    few = confusion_matrix([[35, 1], [0, 36]], ["a", "b"])
    assert few.axes[0].images[0].get_clim() == (0, 0.1)
    assert len(few.axes) == 2
    assert len(confusion_matrix(np.diag([2, 3]), ["a", "b"]).axes) == 1


def test_a_given_title_stands_before_the_commonest_mistake() -> None:
    axes = confusion_matrix(COUNTS, ["a", "b", "c"], title="test: 12 of 102 wrong").axes[0]
    title = axes.get_title(loc="left").replace("\n", " ")
    assert title == "test: 12 of 102 wrong; most frequent mistake: b → a"


def test_long_class_names_are_shortened() -> None:
    axes = confusion_matrix(np.eye(2, dtype=int), ["a", "an extremely long name"]).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "an extremely long…"]


def test_the_title_names_the_commonest_mistake_if_there_is_one() -> None:
    axes = confusion_matrix(COUNTS, ["a", "b", "c"]).axes[0]
    assert axes.get_title(loc="left") == "accuracy 88.2 %; most frequent mistake: b → a"
    perfect = confusion_matrix(np.diag([2, 3]), ["a", "b"]).axes[0]
    assert perfect.get_title(loc="left") == "accuracy 100 %"


def test_many_classes_get_no_numbers_and_names_at_intervals() -> None:
    axes = confusion_matrix(np.eye(100, dtype=int), [str(i) for i in range(100)]).axes[0]
    assert not axes.texts
    assert [tick.get_text() for tick in axes.get_xticklabels()][:3] == ["0", "3", "6"]


def test_what_is_no_matrix_of_counts_is_refused() -> None:
    with pytest.raises(InputError, match=r"matrix of shape \(2, 2\), got \(3, 3\)"):
        confusion_matrix(COUNTS, ["a", "b"])
    with pytest.raises(InputError, match="matrix of counts"):
        confusion_matrix(np.eye(2), ["a", "b"])


def test_each_roc_curve_carries_its_area() -> None:
    truth = [0, 0, 1, 1]
    (axes,) = roc_curves({"good": (truth, [1, 2, 3, 4]), "fair": (truth, [1, 3, 2, 4])}).axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["good, AUC 1.000", "fair, AUC 0.750"]
    assert len(axes.get_lines()) == 3  # and the diagonal


def test_a_roc_curve_names_the_positive_class() -> None:
    curves = {"test": ([0, 1], [0.1, 0.2])}
    (axes,) = roc_curves(curves, positive="Yes").axes
    assert axes.get_ylabel() == "true positive rate ('Yes' found)"
    assert axes.get_xlabel() == "false positive rate (others predicted as 'Yes')"
    assert axes.get_title(loc="left") == "ROC curve of 'Yes'"
    (axes,) = roc_curves(curves, title="default").axes
    assert (axes.get_ylabel(), axes.get_title(loc="left")) == ("true positive rate", "default")


def test_a_roc_curve_needs_both_classes_and_a_score_for_each() -> None:
    with pytest.raises(InputError, match="m: expected truth to hold both 0 and 1"):
        roc_curves({"m": ([1, 1], [0.1, 0.2])})
    with pytest.raises(InputError, match="truth 2, score 1"):
        roc_curves({"m": ([0, 1], [0.1])})


def test_predicted_against_true_shows_every_example_and_r_squared() -> None:
    (axes,) = predicted_against_true([1.0, 2.0, 3.0], [1.0, 2.0, 2.0]).axes
    assert len(axes.collections[0].get_offsets()) == 3
    assert axes.get_title(loc="left") == "R² = 0.500, RMSE 0.577"
    assert axes.get_xlim() == axes.get_ylim()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("true", "predicted")


def test_predicted_against_true_names_its_target() -> None:
    (axes,) = predicted_against_true([1.0, 2.0], [1.0, 2.0], "hitters, test", "Salary").axes
    assert axes.get_title(loc="left").startswith("hitters, test\nR² = 1.000")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("true Salary", "predicted Salary")


def test_predictions_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"predicted of shape \(N,\), got \(2, 1\)"):
        predicted_against_true([1.0, 2.0], [[1.0], [2.0]])
    with pytest.raises(InputError, match="truth 2, predicted 3"):
        predicted_against_true([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="two examples or more, got 1"):
        predicted_against_true([1.0], [1.0])


def test_mistakes_stand_in_order_of_confidence_without_the_right_ones() -> None:
    figure = worst_mistakes(
        np.zeros((4, 5, 5)), [0, 1, 2, 0], [0, 2, 1, 1], [0.99, 0.5, 0.981, 0.7], ["x", "y", "z"]
    )
    captions = [axes.get_xlabel() for axes in figure.axes]
    assert captions == ["z → y, 98 %", "x → y, 70 %", "y → z, 50 %"]


def test_at_most_24_mistakes_are_shown_also_in_color() -> None:
    many = np.ones(30, int)
    images = np.random.default_rng(0).normal(size=(30, 4, 4, 3))
    figure = worst_mistakes(images, 0 * many, many, many / 2, ["a long name", "another name"])
    assert len(figure.axes) == 24


def test_no_mistakes_are_said_in_words() -> None:
    figure = worst_mistakes(np.zeros((2, 3, 3)), [0, 1], [0, 1], [0.5, 0.5], ["a", "b"])
    assert [text.get_text() for text in figure.texts] == ["no mistakes among 2 examples"]


def test_a_grid_wraps_and_drops_its_empty_places() -> None:
    figure = image_grid(np.zeros((5, 2, 2)), list("abcde"), columns=3)
    assert [axes.get_xlabel() for axes in figure.axes] == list("abcde")


def test_images_of_the_wrong_shape_or_number_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(N, H, W\) or \(N, H, W, 3\), got \(2, 3, 4, 4\)"):
        image_grid(np.zeros((2, 3, 4, 4)), ["a", "b"])
    with pytest.raises(InputError, match="images 2, captions 1"):
        image_grid(np.zeros((2, 4, 4)), ["a"])
    with pytest.raises(InputError, match="images 2, truth 1"):
        worst_mistakes(np.zeros((2, 4, 4)), [0], [1], [0.5], ["a", "b"])


def test_overlaps_stand_under_cue_and_recall() -> None:
    stored = np.array([[1, 1, 1, 1], [1, -1, 1, -1]])
    probes = np.array([[1, 1, 1, -1], [-1, -1, 1, 1]])
    figure = recalled_patterns(stored, probes, stored * [[1], [-1]], (2, 2))
    captions = [axes.get_xlabel() for axes in figure.axes]
    assert captions == ["", "", "0.50", "0.00", "1.00", "-1.00"]
    names = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()]
    assert names == ["stored", "cue", "recalled"]


def test_the_overlap_with_a_state_of_zeros_is_zero() -> None:
    assert overlap(np.ones((1, 3)), np.zeros((1, 3))) == [0]


def test_patterns_that_do_not_fill_the_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"stored of shape \(P, 4\), got \(1, 3\)"):
        recalled_patterns(np.ones((1, 3)), np.ones((1, 4)), np.ones((1, 4)), (2, 2))
    with pytest.raises(InputError, match="stored 1, probes 2, recalled 1"):
        recalled_patterns(np.ones((1, 4)), np.ones((2, 4)), np.ones((1, 4)), (2, 2))

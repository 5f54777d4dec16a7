"""Pictures of clouds: what they show and refuse."""

import numpy as np
import pytest

from chainrule.errors import InputError
from chainrule.plots.points import (
    cloud_predictions,
    critical_points,
    project,
    segmented_cloud,
    segmented_clouds,
)
from chainrule.plots.robustness import accuracy_by_missing, error_by_size
from chainrule.plots.style import save

draw = np.random.default_rng(0)
CLASSES = ("a", "b", "c")


def dots(axes) -> np.ndarray:
    """Where the points of a panel are drawn."""
    return np.asarray(axes.collections[0].get_offsets())


def test_up_is_up_and_a_point_in_front_hides_one_behind():
    flat, near = project(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]]))
    assert flat[0, 1] > flat[1, 1]
    assert near[2] > near[1] < near[0], "seen from above and from the front"
    square = draw.random((5, 2))
    assert np.array_equal(project(square)[0], square), "points of the plane stay where they are"


def test_distances_are_never_longer_than_they_are():
    cloud = draw.normal(size=(50, 3))
    flat, near = project(cloud)
    whole = np.concatenate([flat, near[:, None]], axis=1)
    assert np.linalg.norm(whole, axis=1) == pytest.approx(np.linalg.norm(cloud, axis=1))


def test_every_cloud_has_its_class_and_mistakes_are_red():
    figure = cloud_predictions(draw.normal(size=(20, 9, 3)), [0] * 20, [0, 2] * 10, CLASSES)
    assert len(figure.axes) == 16
    right, wrong = (axes.xaxis.label for axes in figure.axes[:2])
    assert right.get_text() == "a" and wrong.get_text() == "a → c"
    assert right.get_color() != wrong.get_color()
    assert "mistake" in figure.get_suptitle()


def test_critical_points_stand_beneath_their_cloud_where_they_were():
    clouds, critical = draw.normal(size=(2, 9, 3)), np.zeros((2, 9), bool)
    critical[:, 2:5] = True
    figure = critical_points(clouds, critical, CLASSES[:2])
    above, _, beneath, _ = figure.axes
    assert len(dots(above)) == 9 and len(dots(beneath)) == 3
    assert above.get_xlim() == beneath.get_xlim() and above.get_ylim() == beneath.get_ylim()
    assert {tuple(p) for p in dots(beneath)} < {tuple(p) for p in dots(above)}
    assert beneath.get_xlabel() == "3 of 9"


def test_points_that_come_twice_are_counted_once():
    clouds = np.zeros((1, 8, 2))
    clouds[0, :4] = draw.random((4, 2))
    clouds[0, 4:] = clouds[0, 0]
    figure = critical_points(clouds, np.ones((1, 8), bool), ["a"])
    assert figure.axes[1].get_xlabel() == "4 of 4"


def test_parts_have_their_colors_and_the_legend_names_those_that_occur(tmp_path):
    clouds, truth = draw.normal(size=(3, 10, 3)), np.zeros((3, 10), int)
    predicted = truth.copy()
    predicted[0, :4] = 2
    figure = segmented_clouds(clouds, truth, predicted, CLASSES)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "c"]
    assert figure.axes[3].get_xlabel() == "60.0 %"
    assert len({tuple(c) for c in figure.axes[3].collections[0].get_facecolors()}) == 2
    assert save(figure, tmp_path / "a.png").stat().st_size > 10_000
    one = segmented_cloud(clouds[0], predicted[0], CLASSES)
    assert [axes.get_title(loc="left") for axes in one.axes] == ["input", "predicted parts"]


def test_accuracy_falls_in_one_line_per_way_to_lose_points():
    lines = {"at random": [0.9, 0.8], "from a side": [0.9, 0.5]}
    axes = accuracy_by_missing([0.0, 0.5], lines, 0.1).axes[0]
    assert [list(line.get_ydata()) for line in axes.lines[:2]] == list(lines.values())


def test_errors_beyond_the_sizes_of_training_are_shaded():
    axes = error_by_size((1, 10, 20), [0.1, 0.5, 0.9], 10, "sum").axes[0]
    assert list(axes.lines[0].get_ydata()) == [0.1, 0.5, 0.9]
    assert axes.patches[0].get_x() == 10


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: cloud_predictions(np.zeros((2, 3)), [0, 0], [0, 0], CLASSES),
        lambda: cloud_predictions(np.zeros((2, 3, 4)), [0, 0], [0, 0], CLASSES),
        lambda: cloud_predictions(np.zeros((2, 3, 3)), [0, 3], [0, 0], CLASSES),
        lambda: cloud_predictions(np.zeros((2, 3, 3)), [0], [0, 0], CLASSES),
        lambda: critical_points(np.zeros((2, 3, 3)), np.zeros((2, 3)), CLASSES[:2]),
        lambda: critical_points(np.zeros((2, 3, 3)), np.zeros((2, 4), bool), CLASSES[:2]),
        lambda: segmented_clouds(
            np.zeros((2, 3, 3)), np.zeros((2, 4), int), np.zeros((2, 3), int), CLASSES
        ),
        lambda: accuracy_by_missing([0.0], {}, 0.1),
        lambda: accuracy_by_missing([0.0], {"a": [0.1, 0.2]}, 0.1),
        lambda: error_by_size([1, 2], [0.1], 1, "sum"),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()

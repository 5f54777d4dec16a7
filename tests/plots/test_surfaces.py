"""What one sees of functions of the plane."""

import numpy as np
import pytest

from chainrule.errors import InputError
from chainrule.plots.boundaries import decision_boundary, linear_regions
from chainrule.plots.surfaces import Surface, View, _visible, decision_surface

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.9]])
Y = np.array([0, 1, 0, 1, 2])
NAMES = ["a", "b", "c"]


def score(x: np.ndarray) -> np.ndarray:
    return x[:, 0] - 0.5


def three(x: np.ndarray) -> np.ndarray:
    z = np.stack([-x[:, 0], x[:, 0] - 1, x[:, 1] - 1], axis=1)
    return np.exp(4 * z) / np.exp(4 * z).sum(1, keepdims=True)


def names(figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_boundary_of_a_score_lies_where_it_is_zero() -> None:
    (axes,) = decision_boundary(score, X[:4], Y[:4], ["a", "b"]).axes
    lines = [c for c in axes.collections if c.get_facecolor().size == 0 and c.get_paths()]
    corners = np.concatenate([path.vertices for path in lines[0].get_paths()])
    np.testing.assert_allclose(corners[:, 0], 0.5, atol=1e-9)


def test_points_are_grouped_by_class_and_mistakes_ringed() -> None:
    wrong = np.array([False, True, False, False, True])
    figure = decision_boundary(three, X, Y, NAMES, wrong)
    assert names(figure) == ["a", "b", "c", "mistakes (2)"]
    rings = next(c for c in figure.axes[0].collections if c.get_label() == "mistakes (2)")
    np.testing.assert_array_equal(rings.get_offsets(), X[wrong])


def test_a_model_that_knows_one_class_only_has_no_boundary() -> None:
    def sure(x: np.ndarray) -> np.ndarray:
        return np.tile([1.0, 0.0], (len(x), 1))

    for draw in (decision_boundary, decision_surface):
        assert names(draw(sure, X[:4], Y[:4], ["a", "b"])) == ["a", "b"]


def ridge(x: np.ndarray) -> np.ndarray:
    """A plateau for x_2 < 0.5, which hides what is behind it from a camera at small x_2."""
    p = (x[:, 1] < 0.5).astype(float)
    return np.stack([1 - p, p], axis=1)


def test_the_points_lie_on_the_sheet_at_the_predicted_height() -> None:
    (axes,) = decision_surface(score, X[:4], Y[:4], ["a", "b"]).axes
    for k, name in enumerate(["a", "b"]):
        points = next(c for c in axes.collections if c.get_label() == name)
        expected = 0.5 + 0.5 * score(X[:4][Y[:4] == k]) / 0.62
        np.testing.assert_allclose(points._offsets3d[2], expected, atol=1e-6)
    assert axes.get_zlabel() == "scaled score of b"
    assert axes.get_zlim()[0] > -0.05


def test_the_camera_goes_where_the_points_of_the_low_class_are_seen() -> None:
    x = np.random.default_rng(0).uniform(size=(80, 2))
    (axes,) = decision_surface(ridge, x, (x[:, 1] < 0.5).astype(int), ["low", "high"]).axes
    assert axes.azim > 0  # from the side of large x_2
    seen = sum(len(c.get_offsets()) for c in axes.collections if c.get_label() in ("low", "high"))
    assert seen > 70


def test_a_point_behind_the_wall_is_not_seen() -> None:
    side = np.linspace(0, 1, 51)
    sheet = Surface(np.zeros(2), np.ones(2), np.tile(side[:, None] < 0.5, 51).astype(float))
    points = np.array([[0.5, 0.6], [0.5, 0.3]])
    assert list(_visible(sheet, points, View(30.0, -90.0, 0.5))) == [False, True]
    assert list(_visible(sheet, points, View(30.0, 90.0, 0.5))) == [True, True]


def test_the_key_of_the_bands_says_what_they_are() -> None:
    def two(x: np.ndarray) -> np.ndarray:
        return np.stack([1 - x[:, 0].clip(0, 1), x[:, 0].clip(0, 1)], axis=1)

    said = {}
    for predict, k in ((score, 2), (two, 2), (three, 3)):
        (axes,) = decision_boundary(predict, X[:4], Y[:4], NAMES[:k], title="moons").axes
        assert axes.get_title(loc="left") == "moons"
        (key,) = axes.child_axes
        said[key.get_ylabel()] = key.get_yticklabels()[0].get_text()
    assert said == {
        "score / largest |score|": "0.0",
        "probability of the predicted class": "50 %",
        "margin of the predicted class over the next": "0 %",
    }


def test_the_surface_of_three_classes_is_that_of_the_winner() -> None:
    (axes,) = decision_surface(three, X, Y, NAMES).axes
    assert axes.get_zlabel() == "probability of the predicted class"


@pytest.mark.parametrize("draw", [decision_boundary, decision_surface])
def test_points_and_predictions_that_do_not_fit_are_refused(draw) -> None:
    with pytest.raises(InputError, match=r"x of shape \(N, 2\), got \(5, 3\)"):
        draw(three, np.zeros((5, 3)), Y, NAMES)
    with pytest.raises(InputError, match="x 5, y 2"):
        draw(three, X, Y[:2], NAMES)
    with pytest.raises(InputError, match="class labels from 0 to 1"):
        draw(three, X, Y, ["a", "b"])
    with pytest.raises(InputError, match="the output of predict of shape"):
        draw(score, X, Y, NAMES)
    with pytest.raises(InputError, match="apply softmax first"):
        draw(lambda x: 9 * three(x), X, Y, NAMES)
    with pytest.raises(InputError, match="one point or more and two classes or more"):
        draw(three, X[:0], Y[:0], NAMES)


def test_mistakes_must_be_as_many_as_points() -> None:
    with pytest.raises(InputError, match="x 5, mistakes 1"):
        decision_boundary(three, X, Y, NAMES, [True])


def test_every_polygon_is_drawn_in_the_color_of_its_value() -> None:
    pieces = [X[[0, 1, 3]], X[[0, 1, 3, 2]]]
    axes = linear_regions(pieces, [1, 5], "two regions").axes[0]
    (drawn,) = axes.collections
    assert [len(path.vertices) - 1 for path in drawn.get_paths()] == [3, 4]
    assert list(drawn.get_array()) == [1, 5]
    assert axes.get_title(loc="left") == "two regions"


def test_polygons_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match=r"a polygon of shape \(V, 2\), got \(3,\)"):
        linear_regions([[1, 2, 3]], [1])
    with pytest.raises(InputError, match="polygons 1, values 2"):
        linear_regions([X], [1, 2])
    with pytest.raises(InputError, match="one polygon or more"):
        linear_regions([], [])

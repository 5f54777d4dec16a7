"""Pictures of kernels, feature maps, saliency and segmentation: what they show and refuse."""

import numpy as np
import pytest

from chainrule.errors import InputError
from chainrule.plots.features import feature_maps, filter_responses, filters, saliency
from chainrule.plots.segmentation import colored, segmentation_maps, segmentation_overlay

draw = np.random.default_rng(0)
CLASSES = ("ground", "a", "b")


def pixels(axes) -> np.ndarray:
    return np.asarray(axes.images[0].get_array())


def test_kernels_of_one_channel_are_white_at_zero_and_differ_by_sign():
    kernels = np.zeros((2, 1, 3, 3))
    kernels[0, 0, 0, 0], kernels[0, 0, 2, 2] = 2.0, -2.0
    figure = filters(kernels)
    first, second = (pixels(axes) for axes in figure.axes)
    assert first[1, 1].min() >= 254 and second.min() >= 254
    assert first[0, 0, 0] > first[0, 0, 2] and first[2, 2, 0] < first[2, 2, 2]


def test_colored_kernels_are_gray_at_zero_and_at_most_64_are_shown():
    figure = filters(np.concatenate([np.zeros((1, 3, 3, 3)), draw.normal(size=(80, 3, 3, 3))]))
    assert len(figure.axes) == 64
    assert (pixels(figure.axes[0]) == 128).all()


def test_kernels_of_a_deeper_layer_are_refused():
    with pytest.raises(InputError, match="one or three channels"):
        filters(draw.normal(size=(4, 16, 3, 3)))


def test_responses_stand_below_their_kernel_and_share_its_scale():
    responses = draw.normal(size=(3, 2, 4, 4))
    kernels = {"edge": draw.normal(size=(3, 3)), "blur": np.ones((3, 3))}
    figure = filter_responses(draw.random((3, 4, 4)), kernels, responses)
    grid = np.reshape(figure.axes, (4, 3))
    assert [axes.get_title() for axes in grid[0, 1:]] == ["edge", "blur"]
    np.testing.assert_array_equal(pixels(grid[0, 1]), kernels["edge"])
    for row, column in np.ndindex(3, 2):
        axes, largest = grid[row + 1, column + 1], np.abs(responses[:, column]).max()
        np.testing.assert_array_equal(pixels(axes), responses[row, column])
        assert axes.images[0].get_clim() == (-largest, largest)


def test_responses_need_one_map_of_every_kernel():
    with pytest.raises(InputError, match="responses"):
        filter_responses(draw.random((3, 4, 4)), {"edge": np.eye(3)}, np.zeros((3, 2, 4, 4)))
    with pytest.raises(InputError, match="at least one image"):
        filter_responses(draw.random((3, 4, 4)), {}, np.zeros((3, 0, 4, 4)))


def test_feature_maps_stand_in_a_row_per_layer():
    maps = {"one": draw.random((3, 8, 8)), "two": draw.random((20, 4, 4))}
    figure = feature_maps(draw.random((8, 8)), maps)
    shown = [axes for axes in figure.axes if axes.images]
    assert len(shown) == 1 + 3 + 8
    np.testing.assert_array_equal(pixels(shown[1]), maps["one"][0])
    with pytest.raises(InputError, match="at least one layer"):
        feature_maps(draw.random((8, 8)), {})


def test_saliency_shows_the_size_of_the_steepest_color():
    images, gradients = draw.random((2, 4, 4, 3)), draw.normal(size=(2, 4, 4, 3))
    figure = saliency(images, gradients, ["cat", "dog"])
    np.testing.assert_array_equal(pixels(figure.axes[2]), np.abs(gradients[0]).max(2))
    with pytest.raises(InputError, match="of the shape of the images"):
        saliency(images, gradients[:, :2], ["cat", "dog"])


def test_ground_keeps_its_gray_and_every_class_has_a_color_of_its_own():
    image, found = np.full((2, 2), 0.5), np.array([[0, 1], [2, 1]])
    painted = colored(image, found)
    assert (painted[0, 0] == 0.5).all()
    assert (painted[0, 1] == painted[1, 1]).all() and (painted[0, 1] != painted[1, 0]).any()


def test_scenes_say_their_share_of_right_pixels():
    images, truth = draw.random((10, 4, 4)), draw.integers(0, 3, (10, 4, 4))
    found = truth.copy()
    found[0, 0] = (truth[0, 0] + 1) % 3
    figure = segmentation_maps(images, truth, found, CLASSES)
    written = [axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()]
    assert written == ["75.0 %"] + ["100.0 %"] * 7
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]


def test_maps_of_another_shape_or_with_unknown_classes_are_refused():
    image = draw.random((4, 4))
    with pytest.raises(InputError, match="expected predicted of shape"):
        segmentation_overlay(image, np.zeros((3, 4), int), CLASSES)
    with pytest.raises(InputError, match="class labels from 0 to 2"):
        segmentation_overlay(image, np.full((4, 4), 3), CLASSES)


def test_a_picture_that_is_all_ground_needs_no_legend():
    assert not segmentation_overlay(draw.random((4, 4)), np.zeros((4, 4), int), CLASSES).legends

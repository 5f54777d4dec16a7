"""MNIST's digits as points of the plane."""

from pathlib import Path

import numpy as np
import torch

from chainrule.data.datasets import mnist
from chainrule.data.datasets.mnist_points import read_points
from chainrule.data.readers.points.point_encoders import ink_points


def test_points_are_the_middles_of_bright_pixels_each_of_them_once_if_they_fit() -> None:
    image = np.zeros((4, 4))
    image[0, 1] = image[3, 3] = 1.0
    image[2, 2] = 0.4
    found = ink_points(image, 5, np.random.default_rng(0))
    assert {tuple(p) for p in found.tolist()} == {(-0.25, 0.75), (0.75, -0.75)}
    assert {tuple(p) for p in found[:2].tolist()} == {(-0.25, 0.75), (0.75, -0.75)}
    one = ink_points(image, 1, np.random.default_rng(0))
    assert one.shape == (1, 2)


def test_faint_drawings_have_points_too() -> None:
    assert ink_points(np.full((2, 2), 0.3), 4, np.random.default_rng(0)).shape == (4, 2)


def test_every_digit_can_be_drawn_again_from_its_points(big_data: Path) -> None:
    clouds = torch.from_numpy(read_points(big_data / "mnist/t10k-images-idx3-ubyte.gz"))
    images = mnist.load(big_data).test.x[:, 0]
    assert clouds.shape == (10_000, 128, 2)
    for cloud, image in zip(clouds[::200], images[::200], strict=True):
        column, row = (cloud[:, 0] * 14 + 13.5).round().long(), (13.5 - cloud[:, 1] * 14).round()
        drawn = torch.zeros(28, 28, dtype=torch.bool)
        drawn[row.long(), column] = True
        assert not (drawn & (image <= 0.5)).any(), "a point without ink"
        assert drawn.sum() == min(128, int((image > 0.5).sum()))

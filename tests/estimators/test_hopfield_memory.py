"""The Hopfield memory in scikit-learn's clothes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from chainrule.estimators import HopfieldMemory


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    """A zero, a four and a seven, as gray values from 0 to 16."""
    X, y = load_digits(return_X_y=True)
    return np.stack([X[y == label][0] for label in (0, 4, 7)])


def test_corrupted_digits_are_restored(images: np.ndarray) -> None:
    memory = HopfieldMemory(threshold=8.0).fit(images)
    patterns = np.where(images >= 8, 1.0, -1.0)
    np.testing.assert_array_equal(memory.transform(images), patterns)
    damaged = images.copy()
    for row, draw in zip(damaged, np.random.default_rng(0).spawn(3), strict=True):
        flipped = draw.choice(64, size=8, replace=False)
        row[flipped] = 16 - row[flipped]
    assert (np.where(damaged >= 8, 1.0, -1.0) != patterns).any(axis=1).all()
    np.testing.assert_array_equal(memory.transform(damaged), patterns)


def test_a_data_frame_comes_out_with_the_columns_that_went_in(images: np.ndarray) -> None:
    frame = pd.DataFrame(images, index=["zero", "four", "seven"]).rename(columns=lambda i: f"p{i}")
    memory = HopfieldMemory(threshold=8.0).set_output(transform="pandas").fit(frame)
    recalled = memory.transform(frame)
    assert list(recalled.columns) == list(frame.columns) == list(memory.get_feature_names_out())
    assert list(recalled.index) == list(frame.index)


def test_it_works_behind_another_transformer(images: np.ndarray) -> None:
    pipeline = make_pipeline(Binarizer(threshold=7.5), HopfieldMemory(threshold=0.5))
    np.testing.assert_array_equal(pipeline.fit_transform(images), np.where(images >= 8, 1.0, -1.0))


def test_the_weights_are_whole_numbers_so_that_ties_are_exact(images: np.ndarray) -> None:
    W = HopfieldMemory(threshold=8.0).fit(images[:, :49]).module_.W.numpy()
    patterns = np.where(images[:, :49] >= 8, 1.0, -1.0)
    expected = patterns.T @ patterns
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(W, expected)

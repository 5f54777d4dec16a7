"""Slips of the notes that are facts about a text or about matrices, not about a network."""

import numpy as np
import pytest
from numpy.linalg import eigvals, matrix_power, norm


def test_the_longer_sentence_of_the_motivation_for_recurrence_has_nine_words() -> None:
    short = "Unfortunately it will rain."
    long = "All students were generously gifted five dollars for attending."
    assert (len(short.split()), len(long.split())) == (4, 9)  # A 2.3.1 says 4 and 8


def test_eigenvalues_of_factors_do_not_bound_a_product() -> None:
    up = np.array([[0.0, 2.0], [0.0, 0.0]])
    assert not eigvals(up).any() and not eigvals(up.T).any()
    assert norm(matrix_power(up @ up.T, 5), 2) == pytest.approx(4**5)  # A 1.3.2 expects 0
    assert norm(up @ up.T, 2) <= norm(up, 2) * norm(up.T, 2) * (1 + 1e-12)


def test_a_norm_of_one_is_neither_needed_nor_enough_for_a_stable_gradient_through_time() -> None:
    """J 5 asks for a norm of 1 in every step."""
    swap, fade = np.array([[0.0, 2.0], [0.5, 0.0]]), np.diag([1.0, 0.5])
    assert norm(swap, 2) == pytest.approx(2) and (matrix_power(swap, 100) == np.eye(2)).all()
    assert norm(fade, 2) == pytest.approx(1) and matrix_power(fade, 100)[1, 1] < 1e-30

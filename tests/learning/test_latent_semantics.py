"""Latent semantic analysis: vectors of words from the documents they share."""

import math

import pytest
import torch

from chainrule.errors import InputError
from chainrule.learning.latent_semantics import latent_semantics, positive_pmi

ANIMALS, TOOLS = [1, 2, 3], [4, 5, 6]
DOCUMENTS = [[0, *ANIMALS[:2]], [0, *ANIMALS[1:]], [0, *TOOLS[:2]], [0, *TOOLS[1:], 6, 6]]


def test_the_matrix_is_the_positive_part_of_the_information() -> None:
    M = positive_pmi(DOCUMENTS, 8).toarray()
    # 12 pairs of a document and a word it holds; word 1 is in one of them, word 2 in two.
    assert M[0, 1] == pytest.approx(math.log((1 / 12) / (3 / 12 * 1 / 12)))
    assert M[0, 2] == pytest.approx(math.log((1 / 12) / (3 / 12 * 2 / 12)))
    assert M[3, 6] == M[0, 1]  # how often a document says it does not matter
    assert not M[:, 0].any() and not M[:, 7].any()  # in every document; in none
    assert not M[0, 3:].any()


def test_words_of_the_same_documents_point_alike() -> None:
    e = latent_semantics(DOCUMENTS, 8, 2)
    assert e.shape == (8, 2)
    alike = (e @ e.T).abs()
    torch.testing.assert_close(alike[1:4, 1:4], torch.ones(3, 3))
    torch.testing.assert_close(alike[4:7, 4:7], torch.ones(3, 3))
    assert alike[1:4, 4:7].max() < 1e-5
    assert not e[0].any() and not e[7].any()


def test_it_follows_from_its_seed() -> None:
    assert torch.equal(latent_semantics(DOCUMENTS, 8, 3, 5), latent_semantics(DOCUMENTS, 8, 3, 5))


def test_documents_that_are_all_alike_tell_nothing() -> None:
    assert not latent_semantics([[1, 2], [2, 1]], 4, 2).any()


@pytest.mark.parametrize(
    ("documents", "dimensions", "message"),
    [
        ([], 1, "words from 0 to 7"),
        ([[-1]], 1, "words from 0 to 7"),
        ([[9]], 1, "words from 0 to 7"),
        (DOCUMENTS, 5, "from 1 to 4 .* got 5"),
        (DOCUMENTS, 0, "got 0"),
    ],
)
def test_bad_input_is_refused(documents: list[list[int]], dimensions: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        latent_semantics(documents, 8, dimensions)

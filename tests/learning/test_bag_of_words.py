"""Bag-of-words prediction: the words a text holds, named from one vector."""

import math

import pytest
import torch

from chainrule.learning.bag_of_words import bag_of_words, rarity, word_targets

SPECIAL = 2  # [PAD] and [CLS]
TEXTS = torch.tensor([[1, 3, 3, 4], [1, 3, 2, 0], [1, 1, 0, 0]])
WEIGHTS = torch.tensor([0.0, 0.0, 1.0, 0.5, 0.25])


def test_frequent_words_count_less() -> None:
    a = rarity(TEXTS, 6, SPECIAL, threshold=0.3)
    # Of five words 3 is three, 2 and 4 are one each: f = 0.6, 0.2 and 0.2; 5 was never seen.
    torch.testing.assert_close(a, torch.tensor([0, 0, 1, math.sqrt(0.3 / 0.6), 1, 1]))
    assert rarity(TEXTS, 6, SPECIAL)[3] == pytest.approx(math.sqrt(1e-4 / 0.6))
    assert rarity(TEXTS[2:], 6, SPECIAL).tolist() == [0, 0, 1, 1, 1, 1]  # texts without a word


def test_a_word_is_held_once_however_often_it_is_said() -> None:
    held = word_targets(TEXTS, WEIGHTS)
    assert held.tolist() == [[0, 0, 0, 0.5, 0.25], [0, 0, 1, 0.5, 0], [0] * 5]


def test_the_loss_is_the_weighted_mean_over_the_words_of_a_text() -> None:
    torch.manual_seed(0)
    z = torch.randn(3, 5)
    log_p = z.log_softmax(1)
    wanted = [
        -(0.5 * log_p[0, 3] + 0.25 * log_p[0, 4]) / 0.75,
        -(log_p[1, 2] + 0.5 * log_p[1, 3]) / 1.5,
        torch.tensor(0.0),
    ]
    torch.testing.assert_close(bag_of_words(z, TEXTS, WEIGHTS), torch.stack(wanted))


def test_a_text_without_words_has_no_slope() -> None:
    z = torch.zeros(3, 5, requires_grad=True)
    bag_of_words(z, TEXTS, WEIGHTS).sum().backward()
    slope = z.grad
    assert slope is not None and slope[:2].any(1).all() and not slope[2].any()


def test_the_best_logits_are_those_of_the_weights() -> None:
    held = word_targets(TEXTS[:2], WEIGHTS)
    best = bag_of_words(held.clamp_min(1e-9).log(), TEXTS[:2], WEIGHTS)
    for other in (torch.zeros(2, 5), torch.randn(2, 5), held):
        assert (bag_of_words(other, TEXTS[:2], WEIGHTS) > best).all()

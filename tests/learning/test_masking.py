"""BERT's tasks: how many words are hidden and how, and which texts are paired."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from chainrule.errors import InputError
from chainrule.learning.masking import (
    MaskingScheme,
    mask_tokens,
    masked_lm_loss,
    pack_pairs,
    sentence_pairs,
)

SCHEME = MaskingScheme(vocab_size=1000, mask_token=4, num_special=5)
WORDS = 100
CONFIDENT = 4.5  # standard deviations: a false alarm once in 147,000 draws


def rows(number: int, words: int, steps: int) -> torch.Tensor:
    """[CLS] words [SEP] and padding."""
    torch.manual_seed(0)
    tokens = torch.zeros(number, steps, dtype=torch.long)
    tokens[:, 0], tokens[:, words + 1] = 2, 3
    tokens[:, 1 : words + 1] = torch.randint(5, 1000, (number, words))
    return tokens


def test_fifteen_per_cent_are_chosen_and_hidden_by_eighty_ten_ten() -> None:
    tokens = rows(2000, WORDS, WORDS + 6)
    hidden = mask_tokens(tokens, SCHEME, torch.Generator().manual_seed(0))
    assert hidden.positions.shape == (2000, 15) and hidden.valid.all()
    assert torch.equal(tokens.gather(1, hidden.positions), hidden.targets)
    assert (hidden.targets >= 5).all(), "only words are chosen"
    assert all(len(set(row)) == 15 for row in hidden.positions.tolist()), "each once"
    untouched = torch.ones_like(tokens, dtype=torch.bool).scatter(1, hidden.positions, False)
    assert torch.equal(hidden.tokens[untouched], tokens[untouched])
    new = hidden.tokens.gather(1, hidden.positions)
    masked, same = new == 4, new == hidden.targets
    n = new.numel()
    # A random word is the old one once in 995 times.
    for share, p in (
        (masked, 0.8),
        (same, 0.1 + 0.1 / 995),
        (~masked & ~same, 0.1 * (1 - 1 / 995)),
    ):
        sigma = math.sqrt(p * (1 - p) / n)
        assert abs(share.double().mean().item() - p) < CONFIDENT * sigma
    random = new[~masked & ~same]
    assert random.min() >= 5 and random.max() < 1000 and len(random.unique()) > 800


def test_every_place_is_chosen_equally_often() -> None:
    hidden = mask_tokens(rows(4000, 20, 22), SCHEME, torch.Generator().manual_seed(1))
    counts = hidden.positions.flatten().bincount(minlength=22).double()[1:21]
    expected = 4000 * 3 / 20
    chi_square = ((counts - expected) ** 2 / (expected * 17 / 20)).sum().item()
    assert chi_square < 19 + CONFIDENT * math.sqrt(2 * 19) + 10  # 19 degrees of freedom


def test_the_seed_decides_and_every_call_hides_other_words() -> None:
    tokens, generator = rows(4, 20, 22), torch.Generator()
    first = mask_tokens(tokens, SCHEME, generator.manual_seed(0))
    second = mask_tokens(tokens, SCHEME, generator)
    again = mask_tokens(tokens, SCHEME, generator.manual_seed(0))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first.positions, second.positions)
    torch.manual_seed(3)
    own = mask_tokens(tokens, SCHEME)
    torch.manual_seed(3)
    assert torch.equal(mask_tokens(tokens, SCHEME).tokens, own.tokens)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(0, 99))
def test_rows_of_any_length_have_their_share_and_one_at_least(sizes: list[int], seed: int) -> None:
    tokens = torch.cat([rows(1, size, 16) for size in sizes])
    hidden = mask_tokens(tokens, SCHEME, torch.Generator().manual_seed(seed))
    for row, size in enumerate(sizes):
        wanted = max(1, round(0.15 * size)) if size else 0
        assert int(hidden.valid[row].sum()) == wanted
        changed = (hidden.tokens[row] != tokens[row]).nonzero()[:, 0]
        assert set(changed.tolist()) <= set(hidden.positions[row][hidden.valid[row]].tolist())


def test_the_loss_is_the_mean_over_the_words_that_count() -> None:
    torch.manual_seed(0)
    logits, words = torch.randn(3, 4, 7), torch.randint(7, (3, 4))
    counts = torch.tensor([[True] * 4, [True, True, False, False], [False] * 4])
    found = masked_lm_loss(logits, words, counts)
    torch.testing.assert_close(found[0], F.cross_entropy(logits[0], words[0]))
    torch.testing.assert_close(found[1], F.cross_entropy(logits[1, :2], words[1, :2]))
    assert found[2] == 0


def documents(number: int) -> list[list[list[int]]]:
    """Token 1000 d + s says: sentence s of document d; each stands three times."""
    return [[[1000 * d + s] * 3 for s in range(20)] for d in range(number)]


def test_half_of_the_pairs_follow_each_other_and_the_others_come_from_elsewhere() -> None:
    texts = documents(300)
    pairs = sentence_pairs(texts, max_length=18, seed=0)
    for a, b, label in pairs:
        assert a and b and len(a) + len(b) <= 18
        if label == 0:
            assert b[0] == a[-1] + 1 and b[0] // 1000 == a[-1] // 1000
        else:
            assert b[0] // 1000 != a[-1] // 1000
    n, follows = len(pairs), sum(pair.label == 0 for pair in pairs)
    # The last sentence of a document, left alone, cannot be followed: a few pairs per document.
    alone = sum(1 for a, _, label in pairs if label and len(set(a)) == 1 and a[0] % 1000 == 19)
    assert abs(follows / (n - alone) - 0.5) < CONFIDENT * 0.5 / math.sqrt(n - alone)
    assert pairs == sentence_pairs(texts, 18, seed=0) != sentence_pairs(texts, 18, seed=1)


def test_no_sentence_is_lost() -> None:
    pairs = sentence_pairs(documents(5), max_length=100, seed=0)
    used = {token for a, b, label in pairs for token in (a + b if label == 0 else a)}
    assert used == {1000 * d + s for d in range(5) for s in range(20)}


def test_pairs_are_packed_with_marks_and_segments() -> None:
    pairs = sentence_pairs(documents(3), max_length=9, seed=0)
    tokens, segments, labels = pack_pairs(pairs, 9, cls=2, sep=3)
    assert tokens.shape == segments.shape == (len(pairs), 12)
    for row, (a, b, label) in enumerate(pairs):
        text = [2, *a, 3, *b, 3]
        assert tokens[row].tolist() == text + [0] * (12 - len(text))
        wanted = [0] * (len(a) + 2) + [1] * (len(b) + 1)
        assert segments[row].tolist() == wanted + [0] * (12 - len(wanted))
        assert labels[row] == label


def test_what_cannot_be_hidden_or_paired_is_refused() -> None:
    with pytest.raises(InputError, match="expected 0 ≤ mask_token < num_special"):
        MaskingScheme(vocab_size=10, mask_token=7, num_special=5)
    with pytest.raises(InputError, match="their sum at most 1"):
        MaskingScheme(10, 4, 5, masked=0.9, random=0.2)
    with pytest.raises(InputError, match="at least two documents"):
        sentence_pairs([[[1, 2]], [[]]], 10, 0)

"""BERT's two tasks made from plain text: words to hide, and texts that follow each other or not.

    15 % of a row's words are chosen; of these 80 % become [MASK], 10 % a random word, 10 % stay
    half of the pairs (a, b) are consecutive (class 0), in the others b comes from elsewhere (1),
    as it also does where a document has only one sentence left

Words that stay, or are replaced by others, force the encoder to keep a vector of every word: it
cannot know which ones will be asked for. Exactly round(0.15 n) of a row's n words are chosen, one
at least. Chosen anew whenever it is called (dynamic, Liu et al. 2019), so that a text looks
different in every epoch; the draws follow from the generator, or from torch's own, which a
training loop seeds at every step.

Devlin, Chang, Lee and Toutanova (2019), NAACL. Notes: J 6.5, footnote 11.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chainrule.errors import InputError


@dataclass(frozen=True)
class Scheme:
    """How words are hidden; the first `special` tokens are no words: [PAD], [CLS], [MASK] …"""

    symbols: int
    mask: int
    special: int
    share: float = 0.15
    masked: float = 0.8
    random: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.mask < self.special < self.symbols:
            raise InputError(
                f"expected the mask {self.mask} among the first {self.special} tokens, and words "
                f"behind them, of {self.symbols}"
            )
        if not 0 < self.share <= 1 or min(self.masked, self.random) < 0:
            raise InputError(f"expected shares from 0 to 1, got {self}")
        if self.masked + self.random > 1:
            raise InputError(f"expected masked and random words to be at most all, got {self}")


class Hidden(NamedTuple):
    """Tokens with words hidden, where they were chosen, which they were, and which entries count.

    Rows with fewer words than others are filled up with entries that do not count.
    """

    tokens: Int[Tensor, "batch steps"]
    places: Int[Tensor, "batch chosen"]
    words: Int[Tensor, "batch chosen"]
    counts: Bool[Tensor, "batch chosen"]


def hide(
    tokens: Int[Tensor, "batch steps"], scheme: Scheme, generator: torch.Generator | None = None
) -> Hidden:
    """Choose 15 % of the words of each row, and hide them by 80 / 10 / 10."""
    is_word = tokens >= scheme.special
    number = is_word.sum(1)
    chosen = (scheme.share * number.double()).round().long().clamp(min=1).minimum(number)
    most = max(1, int(chosen.max()))
    lot = drawn(tokens, generator).masked_fill(~is_word, 2.0)  # words first, in random order
    places = lot.argsort(dim=1, stable=True)[:, :most]
    counts = torch.arange(most, device=tokens.device) < chosen[:, None]
    words = tokens.gather(1, places)
    fate = drawn(words, generator)
    other = torch.randint(
        scheme.special, scheme.symbols, words.shape, generator=generator, device=words.device
    ).to(words.dtype)
    new = torch.where(fate < scheme.masked, scheme.mask, words)
    swapped = (fate >= scheme.masked) & (fate < scheme.masked + scheme.random)
    new = torch.where(counts, torch.where(swapped, other, new), words)
    return Hidden(tokens.scatter(1, places, new), places, words, counts)


def drawn(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform numbers of that shape; float64, so that ties do not happen."""
    return torch.rand(like.shape, generator=generator, device=like.device, dtype=torch.float64)


def hidden_words(
    logits: Float[Tensor, "batch chosen symbols"],
    words: Int[Tensor, "batch chosen"],
    counts: Bool[Tensor, "batch chosen"],
) -> Float[Tensor, " batch"]:
    """-log p of the hidden words, their mean for each row; zero for a row without any."""
    log_p = logits.log_softmax(-1).gather(2, words[:, :, None])[:, :, 0]
    return -(log_p * counts).sum(1) / counts.sum(1).clamp_min(1)


class Pair(NamedTuple):
    """Two texts, and 0 if the second follows the first, else 1."""

    first: list[int]
    second: list[int]
    label: int


def sentence_pairs(
    documents: Sequence[Sequence[Sequence[int]]], longest: int, seed: int
) -> list[Pair]:
    """Pairs of at most `longest` tokens together, from documents of sentences of tokens.

    Sentences of a document are collected until they fill a pair, then cut in two at a random
    sentence. In half of the pairs the second text is taken from another document, and the
    sentences it takes the place of are used again.
    """
    full = [[list(sentence) for sentence in document if sentence] for document in documents]
    full = [document for document in full if document]
    if len(full) < 2 or longest < 2:
        raise InputError(
            "expected two documents or more with sentences in them, and room for two tokens, got "
            f"{len(full)} and {longest}"
        )
    draw = np.random.default_rng(seed)
    pairs = []
    for number, document in enumerate(full):
        start = 0
        while start < len(document):
            end, size = start, 0
            while end < len(document) and (end == start or size < longest):
                size += len(document[end])
                end += 1
            cut = int(draw.integers(start + 1, end)) if end - start > 1 else end
            first, rest = joined(document[start:cut]), joined(document[cut:end])
            follows = bool(rest) and draw.random() < 0.5
            if not follows:
                other = full[(number + int(draw.integers(1, len(full)))) % len(full)]
                rest = joined(other[int(draw.integers(len(other))) :])
            pairs.append(trimmed(first, rest, longest, int(not follows)))
            start = end if follows else cut
    return pairs


def joined(sentences: Sequence[Sequence[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def trimmed(first: list[int], second: list[int], longest: int, label: int) -> Pair:
    """Both cut at their ends, the longer one more, until they fit."""
    half = longest // 2
    for_first = min(len(first), max(half, longest - len(second)))
    return Pair(first[:for_first], second[: longest - for_first], label)


def packed(
    pairs: Sequence[Pair], longest: int, cls: int, sep: int, padding: int = 0
) -> tuple[Int[Tensor, "n steps"], Int[Tensor, "n steps"], Int[Tensor, " n"]]:
    """[CLS] a … [SEP] b … [SEP], segments 0 and 1, and the labels; rows of longest + 3 tokens."""
    tokens = np.full((len(pairs), longest + 3), padding, np.int64)
    segments = np.zeros_like(tokens)
    for row, (a, b, _) in enumerate(pairs):
        text = [cls, *a, sep, *b, sep]
        if len(text) > longest + 3:
            raise InputError(f"a pair of {len(a) + len(b)} tokens is longer than {longest}")
        tokens[row, : len(text)] = text
        segments[row, len(a) + 2 : len(text)] = 1
    labels = torch.tensor([pair.label for pair in pairs], dtype=torch.long)
    return torch.from_numpy(tokens), torch.from_numpy(segments), labels

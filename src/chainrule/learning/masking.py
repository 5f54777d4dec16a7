"""BERT's two pre-training tasks from plain text: masked words, and pairs of texts.

    15 % of a row's words are chosen; of these 80 % become [MASK], 10 % a random word, 10 % stay
    half of the pairs (a, b) are consecutive (class 0), in the others b is from another document
    (class 1), as it also is where a document has only one sentence left

Since some chosen words stay or are replaced by others, the encoder must represent every word: it
cannot know which ones are predicted. Exactly round(0.15 n) of a row's n words are chosen, at least
one. Every call draws new words (dynamic masking, Liu et al. 2019), so that a text is masked
differently in every epoch. The draws come from the given generator, or from torch's default one,
which the training loop seeds at every step.

Devlin, Chang, Lee and Toutanova (2019), NAACL. Notes: J 6.5, footnote 11.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from chainrule.arguments import Count, Natural, TwoOrMore, checked
from chainrule.errors import InputError
from chainrule.shares import longest


@checked
@dataclass(frozen=True)
class MaskingScheme:
    """How words are masked.

    Args:
        vocab_size: Number of tokens.
        mask_token: The token [MASK].
        num_special: The first tokens, which are not words: [PAD], [CLS], [MASK], …
        mask_rate: Fraction of the words that are chosen.
        masked: Fraction of the chosen words that become [MASK].
        random: Fraction of the chosen words that are replaced by a random word.
    """

    vocab_size: int
    mask_token: int
    num_special: int
    mask_rate: float = 0.15
    masked: float = 0.8
    random: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.mask_token < self.num_special < self.vocab_size:
            raise InputError(
                "expected 0 ≤ mask_token < num_special < vocab_size, got "
                f"{self.mask_token}, {self.num_special} and {self.vocab_size}"
            )
        if not 0 < self.mask_rate <= 1:
            raise InputError(f"mask_rate must be above 0 and at most 1, got {self.mask_rate}")
        if min(self.masked, self.random) < 0 or self.masked + self.random > 1:
            raise InputError(
                "masked and random must be at least 0 and their sum at most 1, got "
                f"{self.masked} and {self.random}"
            )


class MaskedTokens(NamedTuple):
    """Masked tokens, the positions of the chosen words, these words, and which entries are valid.

    Rows with fewer chosen words than others are padded with entries that are not valid.
    """

    tokens: Int[Tensor, "batch steps"]
    positions: Int[Tensor, "batch chosen"]
    targets: Int[Tensor, "batch chosen"]
    valid: Bool[Tensor, "batch chosen"]


@checked
def mask_tokens(
    tokens: Int[Tensor, "batch steps"],
    scheme: MaskingScheme,
    generator: torch.Generator | None = None,
) -> MaskedTokens:
    """Choose 15 % of the words of each row, and mask them by 80 / 10 / 10."""
    is_word = tokens >= scheme.num_special
    number = is_word.sum(1)
    chosen = (scheme.mask_rate * number.double()).round().long().clamp(min=1).minimum(number)
    most = longest(max(1, int(chosen.max())))
    order = uniform(tokens, generator).masked_fill(~is_word, 2.0)  # words first, in random order
    positions = order.argsort(dim=1, stable=True)[:, :most]
    valid = torch.arange(most, device=tokens.device) < chosen[:, None]
    targets = tokens.gather(1, positions)
    u = uniform(targets, generator)
    first, last = scheme.num_special, scheme.vocab_size
    other = torch.randint(first, last, u.shape, generator=generator, device=u.device)
    new = torch.where(u < scheme.masked, scheme.mask_token, targets)
    replaced = (u >= scheme.masked) & (u < scheme.masked + scheme.random)
    new = torch.where(valid, torch.where(replaced, other.to(targets.dtype), new), targets)
    return MaskedTokens(tokens.scatter(1, positions, new), positions, targets, valid)


def uniform(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Uniform numbers of the same shape; in float64, where ties do not occur."""
    return torch.rand(like.shape, generator=generator, device=like.device, dtype=torch.float64)


@checked
def masked_lm_loss(
    logits: Float[Tensor, "batch chosen vocab_size"],
    targets: Int[Tensor, "batch chosen"],
    valid: Bool[Tensor, "batch chosen"],
) -> Float[Tensor, " batch"]:
    """Mean of -log p over the chosen words of each row; 0 for a row without any."""
    log_p = logits.log_softmax(-1).gather(2, targets[:, :, None])[:, :, 0]
    return -(log_p * valid).sum(1) / valid.sum(1).clamp_min(1)


class Pair(NamedTuple):
    """Two texts, and 0 if the second follows the first, else 1."""

    first: list[int]
    second: list[int]
    label: int


@checked
def sentence_pairs(
    documents: Sequence[Sequence[Sequence[int]]], max_length: TwoOrMore, seed: Natural
) -> list[Pair]:
    """Pairs of at most `max_length` tokens in all, from documents of sentences of tokens.

    Sentences of a document are collected until they fill a pair, then divided at a random sentence.
    In half of the pairs the second text is from another document, and the sentences it replaces are
    used again.
    """
    full = [[list(sentence) for sentence in document if sentence] for document in documents]
    full = [document for document in full if document]
    if len(full) < 2 or max_length < 2:
        raise InputError(
            "expected at least two documents with sentences and max_length of at least 2, got "
            f"{len(full)} documents and {max_length}"
        )
    draw = np.random.default_rng(seed)
    pairs = []
    for number, document in enumerate(full):
        start = 0
        while start < len(document):
            end, size = start, 0
            while end < len(document) and (end == start or size < max_length):
                size += len(document[end])
                end += 1
            cut = int(draw.integers(start + 1, end)) if end - start > 1 else end
            first, rest = concatenate(document[start:cut]), concatenate(document[cut:end])
            follows = bool(rest) and draw.random() < 0.5
            if not follows:
                other = full[(number + int(draw.integers(1, len(full)))) % len(full)]
                rest = concatenate(other[int(draw.integers(len(other))) :])
            pairs.append(truncate_pair(first, rest, max_length, int(not follows)))
            start = end if follows else cut
    return pairs


def concatenate(sentences: Sequence[Sequence[int]]) -> list[int]:
    return [token for sentence in sentences for token in sentence]


def truncate_pair(first: list[int], second: list[int], max_length: int, label: int) -> Pair:
    """Both texts cut at their ends, the longer one more, to `max_length` tokens in all."""
    half = max_length // 2
    for_first = min(len(first), max(half, max_length - len(second)))
    return Pair(first[:for_first], second[: max_length - for_first], label)


@checked
def pack_pairs(
    pairs: Sequence[Pair], max_length: Count, cls: Natural, sep: Natural, padding: Natural = 0
) -> tuple[Int[Tensor, "n steps"], Int[Tensor, "n steps"], Int[Tensor, " n"]]:
    """Rows [CLS] a … [SEP] b … [SEP] of max_length + 3 tokens, segments 0 and 1, and labels."""
    tokens = np.full((len(pairs), max_length + 3), padding, np.int64)
    segments = np.zeros_like(tokens)
    for row, (a, b, _) in enumerate(pairs):
        text = [cls, *a, sep, *b, sep]
        if len(text) > max_length + 3:
            raise InputError(
                f"a pair has {len(a) + len(b)} tokens, more than max_length {max_length}"
            )
        tokens[row, : len(text)] = text
        segments[row, len(a) + 2 : len(text)] = 1
    labels = torch.tensor([pair.label for pair in pairs], dtype=torch.long)
    return torch.from_numpy(tokens), torch.from_numpy(segments), labels

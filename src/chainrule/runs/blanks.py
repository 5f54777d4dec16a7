"""Words for the blanks of a text, by BERT with its pre-training heads."""

from collections.abc import Sequence
from typing import NamedTuple

import torch

from chainrule.data.text.wordpiece import SPECIAL, WordPiece
from chainrule.errors import InputError
from chainrule.models.attention.bert_pretraining import BertPretraining


class Candidate(NamedTuple):
    """A word for a blank, and its probability."""

    word: str
    probability: float


@torch.no_grad()
def fill(
    model: BertPretraining, pieces: WordPiece, text: str, most: int = 5
) -> list[list[Candidate]]:
    """The likeliest words for every [MASK] of a text, the others being blank as well."""
    numbers = [pieces.cls, *pieces.encode(text), pieces.sep]
    blanks = [place for place, number in enumerate(numbers) if number == pieces.mask]
    if not blanks:
        raise InputError(f"expected a text with a blank to fill, [MASK], got {text!r}")
    if len(numbers) > pieces.max_length:
        raise InputError(
            f"a text of {len(numbers)} tokens is longer than the {pieces.max_length} that the "
            "model reads; shorten it"
        )
    tokens = torch.tensor([numbers])
    words = model.eval().logits(tokens, None, torch.tensor([blanks])).tokens[0]
    words[:, : len(SPECIAL)] = -torch.inf
    best = words.softmax(1).topk(min(most, len(pieces) - len(SPECIAL)))
    return [
        [Candidate(pieces.tokens[n], p) for p, n in zip(row, found, strict=True)]
        for row, found in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def filled(text: str, guesses: Sequence[Sequence[Candidate]]) -> str:
    """The text and, beneath it, the words for each blank."""
    rows = (", ".join(f"{word} {p:.1%}" for word, p in row) for row in guesses)
    return "\n".join([text, *(f"    {row}" for row in rows)])

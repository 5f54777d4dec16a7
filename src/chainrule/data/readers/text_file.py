"""Your own text: a file in any language as one sequence of characters, to predict the next one.

The first 90 % are the training text, then 5 % validation and 5 % test. x is the text and y the same
text one character later.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from chainrule.arguments import Count, checked
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import Vocabulary, character_vocabulary, read_text
from chainrule.errors import InputError

HELD_OUT = 20  # validation and test are each one part in so many


@checked
def text_file(path: str | Path, context_length: Count = 1) -> Splits:
    """The three splits of a text file, in the order of the text.

    path: a text file in UTF-8.
    context_length: characters that each split must be able to hold at least.
    """
    text = read_text(path)
    least = HELD_OUT * (context_length + 1)
    if len(text) < least:
        raise InputError(
            f"{path} has {len(text):,} characters; expected at least {least:,}, because the "
            f"validation split, a twentieth, must exceed `context_length` {context_length}; use a "
            "longer text or a smaller `context_length`"
        )
    vocabulary = character_vocabulary(text)
    tokens = encode_characters(text, vocabulary)
    n = len(tokens)
    ends = (0, n - 2 * (n // HELD_OUT), n - n // HELD_OUT, n)
    parts = [tokens[a:b] for a, b in pairwise(ends)]
    train, validation, test = (Split(part[:-1], part[1:]) for part in parts)
    return Splits(train, validation, test, vocabulary.tokens, vocabulary)


def encode_characters(text: str, vocabulary: Vocabulary) -> torch.Tensor:
    """`vocabulary.encode` of the very text the vocabulary was built from, fast for long texts."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    _, ranks = np.unique(codes, return_inverse=True)
    return torch.from_numpy(ranks.astype(np.int64) + len(vocabulary.special_tokens))

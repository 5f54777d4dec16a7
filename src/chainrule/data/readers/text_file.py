"""Your own text: a file in any language as one long row of characters, the next one to be guessed.

The first 90 % are the training text; of the last 10 % the first half is validation and the second
is test, as for tiny Shakespeare. x is the text and y the same text one character later.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import Vocabulary, character_vocabulary, read_text
from chainrule.errors import InputError

HELD_OUT = 20  # validation and test are each one part of so many


def text_file(path: str | Path, passage: int = 1) -> Splits:
    """The splits of a text file in UTF-8, each long enough to hold a passage."""
    text = read_text(path)
    least = HELD_OUT * (passage + 1)
    if len(text) < least:
        raise InputError(
            f"{path} has {len(text):,} characters; expected at least {least:,}, as a twentieth of "
            f"them is for validation and must hold a passage of {passage}; take a longer text or a "
            "smaller `context_length`"
        )
    vocabulary = character_vocabulary(text)
    tokens = numbered(text, vocabulary)
    n = len(tokens)
    ends = (0, n - 2 * (n // HELD_OUT), n - n // HELD_OUT, n)
    parts = [tokens[a:b] for a, b in pairwise(ends)]
    train, validation, test = (Split(part[:-1], part[1:]) for part in parts)
    return Splits(train, validation, test, vocabulary.tokens, vocabulary)


def numbered(text: str, vocabulary: Vocabulary) -> torch.Tensor:
    """`vocabulary.encode` of a text that holds all of its characters, for long texts."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    _, places = np.unique(codes, return_inverse=True)
    return torch.from_numpy(places.astype(np.int64) + len(vocabulary.special))

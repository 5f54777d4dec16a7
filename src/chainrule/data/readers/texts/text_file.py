"""Your own text: a file in any language as one sequence of tokens, to predict the next one.

The first 90 % are the training text, then 5 % validation and 5 % test. x is the text and y the same
text one token later. Tokens are characters, unless another vocabulary is given. A text of more than
64 MiB stays on the disk (`long_text`).
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from chainrule.arguments import Count, checked
from chainrule.data.readers.texts.long_text import HELD_OUT, is_long, long_text, text_files
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import UNKNOWN, Vocabulary, character_vocabulary, read_text
from chainrule.errors import InputError


@checked
def text_file(
    path: str | Path, context_length: Count = 1, vocabulary: Vocabulary | None = None
) -> Splits:
    """The three splits of a text file, in the order of the text.

    path: a text file in UTF-8, or a folder of .txt files, which follow each other by name.
    context_length: tokens that each split must be able to hold at least.
    vocabulary: of the tokens; None takes the characters of the text.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "fox.txt")
    ...     _ = path.write_text("the quick brown fox " * 50)
    ...     text_file(path, context_length=8).train.x.shape
    torch.Size([899])
    """
    paths = text_files(path)
    remarks: tuple[str, ...] = ()
    if vocabulary is None and is_long(paths):
        return long_text(paths, context_length)
    text = "".join(map(read_text, paths))
    if vocabulary is None:
        vocabulary = character_vocabulary(text)
        tokens = encode_characters(text, vocabulary)
    else:
        tokens = torch.tensor(vocabulary.encode(text))
        remarks = unknown_remarks(tokens, vocabulary)
    n, least = len(tokens), HELD_OUT * (context_length + 1)
    if n < least:
        raise InputError(
            f"{path} has {n:,} {vocabulary.unit}s; expected at least {least:,}, because the "
            f"validation split, a twentieth, must exceed `context_length` {context_length}; use a "
            "longer text or a smaller `context_length`"
        )
    ends = (0, n - 2 * (n // HELD_OUT), n - n // HELD_OUT, n)
    parts = [tokens[a:b] for a, b in pairwise(ends)]
    train, validation, test = (Split(part[:-1], part[1:]) for part in parts)
    return Splits(train, validation, test, vocabulary.tokens, vocabulary, remarks)


def unknown_remarks(tokens: torch.Tensor, vocabulary: Vocabulary) -> tuple[str, ...]:
    """A note on characters that another text has not had."""
    unknown = int((tokens == UNKNOWN).sum()) if vocabulary.unit == "character" else 0
    said = f"{unknown:,} of {len(tokens):,} characters are unknown to the run it starts from"
    return (said,) if unknown else ()


def encode_characters(text: str, vocabulary: Vocabulary) -> torch.Tensor:
    """`vocabulary.encode` of the very text the vocabulary was built from, fast for long texts."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    _, ranks = np.unique(codes, return_inverse=True)
    return torch.from_numpy(ranks.astype(np.int64) + len(vocabulary.special_tokens))

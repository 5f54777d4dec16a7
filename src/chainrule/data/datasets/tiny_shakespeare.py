"""Tiny Shakespeare: a million characters of plays, for predicting the next character.

One text of 1,115,394 characters, 65 of them different. The first 90 % are the training text, as is
usual; of the last 10 %, on which others report, the first half is validation and the second is the
test split. x is the text and y the same text one character later; the seed has no effect.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from chainrule.data import cache
from chainrule.data.files import read_bytes
from chainrule.data.splits import About, Split, Splits
from chainrule.data.text.vocabulary import character_vocabulary

ABOUT = About(
    task="language",
    source="https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/"
    "input.txt",
    license="public domain",
    citation="Karpathy (2015), The Unreasonable Effectiveness of Recurrent Neural Networks",
    shapes="x (n,) characters; y (n,) the next ones; 1,003,853 / 55,769 / 55,769",
)
CHECKSUM = "sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
CHARACTERS = 1_115_394


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    path = cache.fetch("tinyshakespeare/input.txt", ABOUT.source, CHECKSUM, folder)
    content = read_bytes(path)
    if len(content) != CHARACTERS or not content.isascii():
        raise cache.damaged(path, f"expected {CHARACTERS} characters of plain text")
    vocabulary = character_vocabulary(content.decode())
    ids = np.zeros(256, np.int64)
    ids[[ord(c) for c in vocabulary.tokens[2:]]] = np.arange(2, len(vocabulary))
    text = torch.from_numpy(ids[np.frombuffer(content, np.uint8)])
    ends = (0, 9 * CHARACTERS // 10, 19 * CHARACTERS // 20, CHARACTERS)
    parts = [text[a:b] for a, b in pairwise(ends)]
    train, validation, test = (Split(part[:-1], part[1:]) for part in parts)
    return Splits(train, validation, test, vocabulary.tokens, vocabulary)

"""Text as token ids: a tokenizer of words, and vocabularies of words or characters.

The first ids are reserved: 0 pads short rows, 1 stands for every unknown token, 2 and 3 begin and
end a sentence. Character vocabularies reserve only the first two.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from chainrule.data.files import FileError, gunzip, read_bytes
from chainrule.data.state import TEXT, TEXTS, fields, shown
from chainrule.errors import InputError

PADDING, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")  # it's and t-shirt are one word, a mark is its own

MAX_PADDED = 10**8  # token ids of a padded batch
BEFORE_MARK = re.compile(r" ([.,;:!?%)])")


def tokenize(text: str) -> list[str]:
    """Lower-case words and punctuation marks."""
    return WORD.findall(text.lower())


def detokenize(tokens: Iterable[str]) -> str:
    """Tokens joined by spaces, without a space before a punctuation mark."""
    return BEFORE_MARK.sub(r"\1", " ".join(tokens))


@dataclass(frozen=True)
class Vocabulary:
    """Tokens and their ids.

    tokens: all tokens in the order of their ids, the special ones first.
    unit: what a token is, "word" or "character".
    """

    tokens: tuple[str, ...]
    unit: str = "word"

    def __post_init__(self) -> None:
        if self.unit not in ("word", "character"):
            raise InputError(f'expected unit "word" or "character", got {self.unit!r}')
        special = self.special_tokens
        if self.tokens[: len(special)] != special or len(self.token_to_id) < len(self):
            raise InputError(
                f"expected different tokens that begin with {', '.join(special)}, "
                f"got {shown(', '.join(self.tokens[:5]))}"
            )

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The reserved tokens, which no text contains."""
        return SPECIAL if self.unit == "word" else SPECIAL[:2]

    @cached_property
    def token_to_id(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.tokens)}

    def encode(self, text: str) -> list[int]:
        """The token ids of a text."""
        tokens = tokenize(text) if self.unit == "word" else text
        return [self.token_to_id.get(token, UNKNOWN) for token in tokens]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these token ids, up to the end of the sentence."""
        found = []
        for number in ids:
            if number == END and self.unit == "word":
                break
            if number == UNKNOWN or number >= len(self.special_tokens):
                found.append(self.tokens[number])
        return detokenize(found) if self.unit == "word" else "".join(found)

    def knows(self, text: str) -> bool:
        """Whether the text has tokens and all of them are known."""
        found = self.encode(text)
        return bool(found) and UNKNOWN not in found

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The text of each token."""
        return [self.tokens[number] for number in ids]

    def encode_file(self, path: str | Path) -> Int[Tensor, "1 length"]:
        """The whole file as one sequence."""
        return torch.tensor([self.encode(read_text(path))])

    def to_json(self) -> dict[str, Any]:
        return {"kind": "vocabulary", "unit": self.unit, "tokens": list(self.tokens)}

    @classmethod
    def from_json(cls, state: Any) -> "Vocabulary":
        found = fields(state, "the vocabulary", tokens=TEXTS, unit=TEXT)
        return cls(tuple(found["tokens"]), found["unit"])


def word_vocabulary(
    texts: Iterable[Sequence[str]], max_size: int | None = None, min_count: int = 1
) -> Vocabulary:
    """The most frequent words first, equally frequent ones in alphabetical order.

    texts: tokenized texts.
    max_size: how many words are kept, special tokens not counted; None keeps all.
    min_count: how often a word must occur to be kept.
    """
    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:max_size]
    return Vocabulary((*SPECIAL, *(word for word, count in ranked if count >= min_count)))


def character_vocabulary(text: str) -> Vocabulary:
    """All characters of a text, in the order of their code points."""
    return Vocabulary((*SPECIAL[:2], *sorted(set(text))), "character")


def pad_sequences(
    rows: Sequence[Sequence[int]], max_length: int | None = None
) -> Int[Tensor, "n length"]:
    """Rows of token ids padded on the right with 0.

    max_length: the length of all rows; longer ones lose their beginning. None takes the longest.
    """
    length = max(map(len, rows), default=0) if max_length is None else max_length
    if len(rows) * length > MAX_PADDED:
        raise InputError(
            f"{len(rows):,} texts padded to {length:,} tokens are more than {MAX_PADDED:,} tokens; "
            "use fewer or shorter texts"
        )
    filled = np.full((len(rows), length), PADDING, np.int64)
    for number, row in enumerate(rows):
        kept = row[max(0, len(row) - length) :]
        filled[number, : len(kept)] = kept
    return torch.from_numpy(filled)


def read_text(path: str | Path) -> str:
    """The content of a UTF-8 text file, plain or gzipped, without a byte-order mark."""
    content = read_bytes(path)
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gunzip(path)
        except FileError:
            raise InputError(
                f"{path} is a damaged gzip file; expected a text in UTF-8, plain or gzipped"
            ) from None
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None
    if not text.strip():
        raise InputError(f"{path} is empty; expected text")
    return text


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file that are not blank."""
    return [line for line in read_text(path).splitlines() if line.strip()]

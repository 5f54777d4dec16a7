"""Text as numbers: tokens, and vocabularies that number them.

The first numbers are kept: 0 fills short rows up, 1 stands for every token that is not known, 2 and
3 begin and end a sentence. Vocabularies of characters have only the first two.
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

from chainrule.errors import InputError

PADDING, UNKNOWN, BEGIN, END = range(4)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
WORD = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")  # it's and t-shirt are words; marks stand alone

AFTER_WORD = re.compile(r" ([.,;:!?%)])")


def words(text: str) -> list[str]:
    """Lower-case words and punctuation marks."""
    return WORD.findall(text.lower())


def joined(tokens: Iterable[str]) -> str:
    """Words and marks as they are written: no space before a full stop."""
    return AFTER_WORD.sub(r"\1", " ".join(tokens))


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in the order of their numbers; `unit` is what a token is: word or character."""

    tokens: tuple[str, ...]
    unit: str = "word"

    def __post_init__(self) -> None:
        if self.unit not in ("word", "character"):
            raise InputError(f"expected a vocabulary of words or characters, got {self.unit!r}")
        if self.tokens[: len(self.special)] != self.special or len(self.numbers) < len(self):
            raise InputError(
                f"expected different tokens that begin with {', '.join(self.special)}, "
                f"got {', '.join(self.tokens[:5])} …"
            )

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def special(self) -> tuple[str, ...]:
        """The tokens that no text holds."""
        return SPECIAL if self.unit == "word" else SPECIAL[:2]

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self.tokens)}

    def encode(self, text: str) -> list[int]:
        """The numbers of a text's tokens."""
        tokens = words(text) if self.unit == "word" else text
        return [self.numbers.get(token, UNKNOWN) for token in tokens]

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of these numbers, up to the end of the sentence."""
        found = []
        for number in numbers:
            if number == END and self.unit == "word":
                break
            if number == UNKNOWN or number >= len(self.special):
                found.append(self.tokens[number])
        return joined(found) if self.unit == "word" else "".join(found)

    def encode_file(self, path: str | Path) -> Int[Tensor, "1 length"]:
        """The whole file as one sequence."""
        return torch.tensor([self.encode(read_text(path))])

    def to_json(self) -> dict[str, Any]:
        return {"kind": "vocabulary", "unit": self.unit, "tokens": list(self.tokens)}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "Vocabulary":
        return cls(tuple(state["tokens"]), state["unit"])


def word_vocabulary(
    texts: Iterable[Sequence[str]], most: int | None = None, least: int = 1
) -> Vocabulary:
    """Words seen at least `least` times, the `most` frequent; equally frequent ones by alphabet."""
    counts = Counter(word for text in texts for word in text)
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    return Vocabulary((*SPECIAL, *(word for word, count in ranked if count >= least)))


def character_vocabulary(text: str) -> Vocabulary:
    """All characters of a text, in the order of their codes."""
    return Vocabulary((*SPECIAL[:2], *sorted(set(text))), "character")


def padded(rows: Sequence[Sequence[int]], length: int | None = None) -> Int[Tensor, "n length"]:
    """Rows filled up with 0 to the longest, or to `length`; of a longer row the end is kept."""
    length = max(map(len, rows), default=0) if length is None else length
    filled = np.full((len(rows), length), PADDING, np.int64)
    for number, row in enumerate(rows):
        kept = row[max(0, len(row) - length) :]
        filled[number, : len(kept)] = kept
    return torch.from_numpy(filled)


def read_text(path: str | Path) -> str:
    """A text file of the user's; a byte-order mark is no part of it."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if not text.strip():
        raise InputError(f"{path} is empty; expected text")
    return text

"""Readers of a user's own sentences, for models of text.

Each takes sentences, or a text file with one on every line, and gives token numbers, one row each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Int
from torch import Tensor

from chainrule.data.text.vocabulary import UNKNOWN, Vocabulary, padded, read_text
from chainrule.errors import InputError


@runtime_checkable
class SentenceEncoder(Protocol):
    """An encoder that takes sentences as well as files of them."""

    def encode_texts(self, texts: Sequence[str]) -> Tensor: ...

    def encode_file(self, path: str | Path) -> Tensor: ...

    def to_json(self) -> dict[str, Any]: ...


def lines(path: str | Path) -> list[str]:
    """The lines of a text file that are not empty."""
    return [line for line in read_text(path).splitlines() if line.strip()]


@dataclass(frozen=True)
class TokenEncoder:
    """A text as the numbers of its last `length` tokens."""

    vocabulary: Vocabulary
    length: int

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        return padded([known(self.vocabulary, text) for text in texts], self.length)

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(lines(path))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "tokens", "length": self.length, "vocabulary": self.vocabulary.to_json()}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "TokenEncoder":
        return cls(Vocabulary.from_json(state["vocabulary"]), state["length"])


@dataclass(frozen=True)
class BagEncoder:
    """A text as the set of its known words: their numbers in ascending order."""

    vocabulary: Vocabulary
    length: int

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        rows = [sorted({*known(self.vocabulary, text)} - {UNKNOWN}) for text in texts]
        return padded(rows, self.length)

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(lines(path))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "bag", "length": self.length, "vocabulary": self.vocabulary.to_json()}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "BagEncoder":
        return cls(Vocabulary.from_json(state["vocabulary"]), state["length"])


@dataclass(frozen=True)
class PairEncoder:
    """A sentence of the source language; `target` turns the translation into words again."""

    source: Vocabulary
    target: Vocabulary

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        return padded([known(self.source, text) for text in texts])

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(lines(path))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "pair", "source": self.source.to_json(), "target": self.target.to_json()}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "PairEncoder":
        return cls(Vocabulary.from_json(state["source"]), Vocabulary.from_json(state["target"]))


def known(vocabulary: Vocabulary, text: str) -> list[int]:
    """The numbers of a text that has at least one word."""
    found = vocabulary.encode(text)
    if not found:
        raise InputError(f"expected words, got {text!r}")
    return found

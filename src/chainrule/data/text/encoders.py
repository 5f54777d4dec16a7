"""Encoders of a user's sentences, for models of text.

Each takes sentences, or a text file with one sentence per line, and returns one row of token ids
per sentence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Int
from torch import Tensor

from chainrule.data.state import OBJECT, fields, whole
from chainrule.data.text.vocabulary import UNKNOWN, Vocabulary, pad_sequences, read_lines
from chainrule.errors import InputError

MAX_LENGTH = 10**6  # tokens of a row


@runtime_checkable
class SentenceEncoder(Protocol):
    """An encoder that takes sentences as well as files of them."""

    def encode_texts(self, texts: Sequence[str]) -> Tensor: ...

    def encode_file(self, path: str | Path) -> Tensor: ...

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class TokenEncoder:
    """A text as the ids of its last tokens, padded on the right.

    vocabulary: maps tokens to ids.
    max_length: the length of every row; a longer text loses its beginning.
    """

    vocabulary: Vocabulary
    max_length: int

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        return pad_sequences([token_ids(self.vocabulary, text) for text in texts], self.max_length)

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(read_lines(path))

    def to_json(self) -> dict[str, Any]:
        state = {"max_length": self.max_length, "vocabulary": self.vocabulary.to_json()}
        return {"kind": "tokens", **state}

    @classmethod
    def from_json(cls, state: Any) -> "TokenEncoder":
        return cls(*_vocabulary_and_length(state))


@dataclass(frozen=True)
class BagEncoder:
    """A text as the set of its known words: their ids in ascending order, padded on the right.

    vocabulary: maps words to ids.
    max_length: the length of every row.
    """

    vocabulary: Vocabulary
    max_length: int

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        rows = [sorted({*token_ids(self.vocabulary, text)} - {UNKNOWN}) for text in texts]
        return pad_sequences(rows, self.max_length)

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(read_lines(path))

    def to_json(self) -> dict[str, Any]:
        state = {"max_length": self.max_length, "vocabulary": self.vocabulary.to_json()}
        return {"kind": "bag", **state}

    @classmethod
    def from_json(cls, state: Any) -> "BagEncoder":
        return cls(*_vocabulary_and_length(state))


@dataclass(frozen=True)
class PairEncoder:
    """A sentence to be translated, as token ids padded to the longest of its batch.

    source: the vocabulary of the sentences.
    target: the vocabulary of the translations, which decodes them.
    """

    source: Vocabulary
    target: Vocabulary

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        return pad_sequences([token_ids(self.source, text) for text in texts])

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(read_lines(path))

    def to_json(self) -> dict[str, Any]:
        return {"kind": "pair", "source": self.source.to_json(), "target": self.target.to_json()}

    @classmethod
    def from_json(cls, state: Any) -> "PairEncoder":
        found = fields(state, "the encoder of pairs", source=OBJECT, target=OBJECT)
        return cls(Vocabulary.from_json(found["source"]), Vocabulary.from_json(found["target"]))


def _vocabulary_and_length(state: Any) -> tuple[Vocabulary, int]:
    kinds = {"vocabulary": OBJECT, "max_length": whole(1, MAX_LENGTH)}
    found = fields(state, "the encoder of texts", **kinds)
    return Vocabulary.from_json(found["vocabulary"]), found["max_length"]


def token_ids(vocabulary: Vocabulary, text: str) -> list[int]:
    """The ids of a text; a text without words is refused."""
    found = vocabulary.encode(text)
    if not found:
        raise InputError(f"expected words, got {text!r}")
    return found

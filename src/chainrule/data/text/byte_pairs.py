"""Byte pairs, the tokens of GPT-2: frequent sequences of bytes, so that every text has tokens.

    unaffable → un aff able         a space belongs to the word after it and is written Ġ

Merged by the `tokenizers` library (Rust). A vocabulary is stored as plain JSON: the tokens in the
order of their ids, and the merges in the order in which they are applied.
Sennrich, Haddow and Birch (2016), ACL; Radford et al. (2019). Notes: J 6.4.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chainrule.data.state import TEXTS, fields
from chainrule.data.text.vocabulary import Vocabulary
from chainrule.data.text.wordpiece import tokenizers_package
from chainrule.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

END_OF_TEXT = "<|endoftext|>"


@dataclass(frozen=True)
class BytePairs(Vocabulary):
    """A vocabulary of byte pairs.

    tokens: the tokens in the order of their ids.
    unit: always "byte pair".
    merges: two tokens with a space between them, the first merge first.
    """

    unit: str = "byte pair"
    merges: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.unit != "byte pair" or len(self.token_to_id) < len(self.tokens):
            raise InputError("expected different tokens of unit 'byte pair'")
        pairs = [tuple(merge.split(" ")) for merge in self.merges]
        known = self.token_to_id
        for pair in pairs:
            if len(pair) != 2 or not {*pair, "".join(pair)} <= known.keys():
                raise InputError(f"expected merges of two tokens into a third, got {pair}")

    @property
    def special_tokens(self) -> tuple[str, ...]:
        return (END_OF_TEXT,) if END_OF_TEXT in self.token_to_id else ()

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        package = tokenizers_package()
        pairs = [(a, b) for a, b in (merge.split(" ") for merge in self.merges)]
        made = package.Tokenizer(package.models.BPE(self.token_to_id, pairs))
        made.pre_tokenizer = package.pre_tokenizers.ByteLevel(add_prefix_space=False)
        made.decoder = package.decoders.ByteLevel()
        return made

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Iterable[int]) -> str:
        return self.tokenizer.decode(list(ids), skip_special_tokens=False)

    def knows(self, text: str) -> bool:
        return bool(self.encode(text))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The text of each token; � where a token is part of a character."""
        return [self.decode([number]) for number in ids]

    def to_json(self) -> dict[str, Any]:
        return {"kind": "byte-pairs", "tokens": list(self.tokens), "merges": list(self.merges)}

    @classmethod
    def from_json(cls, state: Any) -> "BytePairs":
        found = fields(state, "the byte pairs", tokens=TEXTS, merges=TEXTS)
        return cls(tuple(found["tokens"]), merges=tuple(found["merges"]))

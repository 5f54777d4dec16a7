"""Words of tagged sentences as ids; a rare word is known by its form.

    Brexit → brexit, if training has it twice or more, else <Xx-xit>, else <Xx>, else <unk>

The form of a word is a capital, digits, both or neither, and its last three letters: -ing, -ly and
-tion say much about a word that was never seen. Notes: L "RNNs" (word embeddings).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxtyping import Int
from torch import Tensor

from chainrule.data.state import OBJECT, fields, whole
from chainrule.data.text.encoders import MAX_LENGTH
from chainrule.data.text.vocabulary import (
    SPECIAL,
    UNKNOWN,
    Vocabulary,
    pad_sequences,
    read_lines,
)
from chainrule.errors import InputError

TOKEN = re.compile(
    r"\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"  # do n't, it 's
    r"|https?://\S+|[\w.+-]{1,64}@[\w.-]+\w"  # more before @ is no address, and slow to search
    r"|\d+(?:[.,:/]\d+)+|(?:[A-Za-z]\.){2,}|(?-i:Mr|Mrs|Ms|Dr|St|[A-HJ-Z])\.(?=\s+\w)"  # 3.50, U.S.
    r"|\w+|\.{2,}|-{2,}|[^\w\s]",
    re.IGNORECASE,
)
MIN_COUNT = 2  # occurrences in training that make a word, or a form, known
SUFFIX = 3  # letters


def split_words(text: str) -> list[str]:
    """The words of a sentence as treebanks of English have them: don't is do n't."""
    return TOKEN.findall(text)


@dataclass(frozen=True)
class WordEncoder:
    """Words as the ids of what is known of them.

    vocabulary: lower-case words, then forms of words.
    max_length: the longest sentence of training.
    """

    vocabulary: Vocabulary
    max_length: int

    def word_id(self, word: str) -> int:
        known = self.vocabulary.token_to_id
        return next((known[name] for name in names(word) if name in known), UNKNOWN)

    def encode_words(self, sentences: Sequence[Sequence[str]]) -> Int[Tensor, "n length"]:
        """One padded row of ids for each sentence, whole."""
        return pad_sequences([[self.word_id(word) for word in words] for words in sentences])

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        for text in texts:
            if not text.strip():
                raise InputError(f"expected words, got {text!r}")
        return self.encode_words([split_words(text) for text in texts])

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        return self.encode_texts(read_lines(path))

    def to_json(self) -> dict[str, Any]:
        state = {"max_length": self.max_length, "vocabulary": self.vocabulary.to_json()}
        return {"kind": "words", **state}

    @classmethod
    def from_json(cls, state: Any) -> "WordEncoder":
        kinds = {"vocabulary": OBJECT, "max_length": whole(1, MAX_LENGTH)}
        found = fields(state, "the encoder of words", **kinds)
        return cls(Vocabulary.from_json(found["vocabulary"]), found["max_length"])


def names(word: str) -> tuple[str, str, str]:
    """What a word may be known by, the most exact first."""
    digits = "0" if any(map(str.isdigit, word)) else ""
    case = "Xx" if word[:1].isupper() else "x"
    return word.lower(), f"<{case}{digits}-{word[-SUFFIX:].lower()}>", f"<{case}{digits}>"


def word_encoder(sentences: Iterable[Sequence[str]]) -> WordEncoder:
    """The words and forms of training sentences; forms are counted over their rare words."""
    sentences = list(sentences)
    words = Counter(word.lower() for sentence in sentences for word in sentence)
    common = {word for word, count in words.items() if count >= MIN_COUNT}
    rare = [word for sentence in sentences for word in sentence if word.lower() not in common]
    forms = Counter(name for word in rare for name in names(word)[1:])
    known = sorted(form for form, count in forms.items() if count >= MIN_COUNT)
    vocabulary = Vocabulary((*SPECIAL, *sorted(common - {*SPECIAL}), *known))
    return WordEncoder(vocabulary, max(map(len, sentences)))

"""WordPiece: words that are rare become pieces, so that a small vocabulary spells every text.

    unaffable → una ##ff ##able        a piece with ## goes on where the last one ended

Trained and applied by the `tokenizers` library (Rust); a vocabulary is plain JSON, or BERT's own
vocab.txt with a piece on every line. Trained here, the first five tokens are [PAD], [UNK], [CLS],
[SEP] and [MASK]; others may have the last four elsewhere. A text that spells [MASK] means that
token.
Schuster and Nakajima (2012); Wu et al. (2016), arXiv 1609.08144. Notes: J 6.5.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from jaxtyping import Int
from torch import Tensor

from chainrule.data.text.vocabulary import padded, read_text
from chainrule.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
LETTERS = 1000  # characters that are kept apart; words with others are [UNK]


class Words(NamedTuple):
    """A sentence of words as pieces, and the place of each word's first piece."""

    tokens: list[int]
    first: list[int]


class Question(NamedTuple):
    """[CLS] question [SEP] passage [SEP]: pieces, segments, and (from, to) of each in its text."""

    tokens: list[int]
    segments: list[int]
    offsets: list[tuple[int, int]]


class WordPiece:
    """A trained vocabulary of pieces in the order of their numbers."""

    def __init__(self, tokens: Sequence[str], length: int = 128, lower: bool = True):
        """length: of the rows that `encode_texts` gives; lower: letters become small, bare ones."""
        numbers = {token: number for number, token in enumerate(tokens)}
        absent = [token for token in SPECIAL if token not in numbers]
        if absent or numbers[SPECIAL[PAD]] != PAD or len(numbers) < len(tokens):
            raise InputError(
                f"expected different pieces, [PAD] the first and {', '.join(SPECIAL[1:])} among "
                f"them, got {', '.join(tokens[:6])} …"
            )
        if length < 3:
            raise InputError(f"expected rows of 3 tokens or more, got {length}")
        self.tokens, self.length, self.lower, self.numbers = tuple(tokens), length, lower, numbers
        self.unk, self.cls, self.sep, self.mask = (numbers[token] for token in SPECIAL[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordPiece) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.tokens, self.length, self.lower))

    def __len__(self) -> int:
        return len(self.tokens)

    def of_length(self, length: int) -> "WordPiece":
        """The same pieces for rows of another length."""
        return WordPiece(self.tokens, length, self.lower)

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        return pipeline(self.numbers, self.lower)

    def encode(self, text: str) -> list[int]:
        """The pieces of a text, without [CLS] and [SEP]."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """The same for many texts, in parallel."""
        found = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [each.ids for each in found]

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        """[CLS] … [SEP], one row for each text, filled up; a long text loses its middle."""
        for text in texts:
            if not text.strip():
                raise InputError(f"expected words, got {text!r}")
        half, whole = (self.length - 2) // 2, self.length - 2
        rows = [
            row if len(row) <= whole else [*row[: whole - half], *row[len(row) - half :]]
            for row in self.encode_many(texts)
        ]
        return padded([[self.cls, *row, self.sep] for row in rows], self.length)

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        """The lines of a text file."""
        return self.encode_texts([line for line in read_text(path).splitlines() if line.strip()])

    def encode_words(self, words: Sequence[str]) -> Words:
        """[CLS] … [SEP] of words that stand apart already; a word without pieces is [UNK]."""
        tokens, first = [self.cls], []
        for pieces in self.encode_many(words):
            first.append(len(tokens))
            tokens += pieces or [self.unk]
        return Words([*tokens, self.sep], first)

    def encode_question(self, question: str, passage: str) -> Question:
        """The pair as BERT reads it; offsets of the passage's pieces are places in its text."""
        asked = self.tokenizer.encode(question, add_special_tokens=False)
        read = self.tokenizer.encode(passage, add_special_tokens=False)
        tokens = [self.cls, *asked.ids, self.sep, *read.ids, self.sep]
        segments = [0] * (len(asked.ids) + 2) + [1] * (len(read.ids) + 1)
        none = (0, 0)
        return Question(tokens, segments, [none, *asked.offsets, none, *read.offsets, none])

    def decode(self, numbers: Iterable[int]) -> str:
        """The text of these pieces, without special tokens but [UNK] and [MASK]."""
        shown = [number for number in numbers if number not in (PAD, self.cls, self.sep)]
        return self.tokenizer.decode(shown, skip_special_tokens=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "wordpiece",
            "length": self.length,
            "lower": self.lower,
            "tokens": list(self.tokens),
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> "WordPiece":
        return cls(state["tokens"], state["length"], state["lower"])

    def save(self, path: str | Path) -> None:
        Path(path).write_text(json.dumps(self.to_json(), ensure_ascii=False) + "\n", "utf-8")


def read_wordpiece(path: str | Path, length: int = 512, lower: bool = True) -> WordPiece:
    """A vocabulary that `save` wrote, or BERT's vocab.txt, for which length and lower are told."""
    text = read_text(path)
    if text.startswith(SPECIAL[PAD]):
        return WordPiece(text.replace("\r", "").rstrip("\n").split("\n"), length, lower)
    try:
        return WordPiece.from_json(json.loads(text))
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{path} is neither a vocabulary that WordPiece.save wrote nor BERT's vocab.txt, which "
            "begins with [PAD]"
        ) from None


def train_wordpiece(
    texts: Iterable[str], size: int = 8000, length: int = 128, lower: bool = True
) -> WordPiece:
    """Up to `size` pieces, learned from these texts; the same texts give the same pieces."""
    texts = list(texts)
    tokenizer = pipeline({}, lower)
    letters = alphabet(texts, tokenizer)
    going_on = [f"##{letter}" for letter in letters if continues(letter, tokenizer)]
    least = len(SPECIAL) + len(letters) + len(going_on)
    if not letters or size < least:
        raise InputError(
            f"expected texts with letters in them, and a size of {least} or more: as many are the "
            f"special tokens and single characters; got a size of {size}"
        )
    # The trainer numbers ##a, ##b, … by chance, and ties by these numbers; so they are given.
    trainer = library().trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=[*SPECIAL, *going_on],
        initial_alphabet=letters,
        limit_alphabet=len(letters),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    numbers = tokenizer.get_vocab()
    return WordPiece(sorted(numbers, key=lambda token: numbers[token]), length, lower)


def alphabet(texts: Sequence[str], tokenizer: "Tokenizer") -> list[str]:
    """The characters of the texts in the order of their codes, the most frequent if too many."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(tokenizer.normalizer.normalize_str(text))
    seen = sorted((c for c in counts if not c.isspace()), key=lambda c: (-counts[c], c))
    return sorted(seen[:LETTERS])


def continues(letter: str, tokenizer: "Tokenizer") -> bool:
    """Whether a word may hold it behind its first letter: marks stand alone."""
    return len(tokenizer.pre_tokenizer.pre_tokenize_str(f"a{letter}")) == 1


def pipeline(numbers: dict[str, int], lower: bool) -> "Tokenizer":
    """BERT's own: clean, cut at spaces and marks, then the longest piece that fits each time."""
    own = library()
    tokenizer = own.Tokenizer(own.models.WordPiece(numbers, unk_token=SPECIAL[UNK]))
    tokenizer.normalizer = own.normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = own.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = own.decoders.WordPiece(prefix="##")
    if numbers:
        tokenizer.add_special_tokens([SPECIAL[MASK]])  # a text cannot spell the others
    return tokenizer


def library() -> Any:
    """The package tokenizers, or a sentence on how to get it."""
    try:
        import tokenizers
    except ImportError:
        raise InputError(
            "WordPiece needs the package tokenizers; install it with: pip install 'chainrule[text]'"
        ) from None
    return tokenizers

"""WordPiece: rare words become several pieces, so that a small vocabulary spells every text.

    unaffable → una ##ff ##able        a piece with ## continues the previous one

Trained and applied by the `tokenizers` library (Rust). A vocabulary is stored as plain JSON, or as
BERT's own vocab.txt with one piece per line. Here the first five tokens are [PAD], [UNK], [CLS],
[SEP] and [MASK]; a published vocabulary may have the last four elsewhere. A text that contains
[MASK] means that token.
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

from chainrule.arguments import checked
from chainrule.data.files import errors_naming, parse_json
from chainrule.data.state import FLAG, TEXTS, fields, shown, whole
from chainrule.data.text.encoders import MAX_LENGTH
from chainrule.data.text.vocabulary import pad_sequences, read_lines, read_text
from chainrule.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(5)
MAX_CHARACTERS = 1000  # different ones in a trained vocabulary; words with others are [UNK]


class EncodedQuestion(NamedTuple):
    """[CLS] question [SEP] passage [SEP].

    tokens: the token ids.
    segments: 0 for the question, 1 for the passage.
    offsets: (start, end) of each token in its own text; (0, 0) for special tokens.
    """

    tokens: list[int]
    segments: list[int]
    offsets: list[tuple[int, int]]


class WordPiece:
    """A trained WordPiece vocabulary.

    tokens: the pieces in the order of their ids.
    max_length: the length of the rows that `encode_texts` returns.
    lowercase: whether letters are lower-cased and stripped of accents.
    """

    def __init__(self, tokens: Sequence[str], max_length: int = 128, lowercase: bool = True):
        token_to_id = {token: number for number, token in enumerate(tokens)}
        absent = [token for token in SPECIAL if token not in token_to_id]
        if absent or token_to_id[SPECIAL[PAD]] != PAD or len(token_to_id) < len(tokens):
            raise InputError(
                f"expected different pieces, [PAD] the first and {', '.join(SPECIAL[1:])} among "
                f"them, got {shown(', '.join(tokens[:6]))}"
            )
        if max_length < 3:
            raise InputError(f"max_length must be at least 3, got {max_length}")
        self.tokens, self.max_length, self.lowercase = tuple(tokens), max_length, lowercase
        self.token_to_id = token_to_id
        self.unk, self.cls, self.sep, self.mask = (token_to_id[token] for token in SPECIAL[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordPiece) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.tokens, self.max_length, self.lowercase))

    def __len__(self) -> int:
        return len(self.tokens)

    def with_max_length(self, max_length: int) -> "WordPiece":
        """The same pieces for rows of another length."""
        return WordPiece(self.tokens, max_length, self.lowercase)

    @cached_property
    def tokenizer(self) -> "Tokenizer":
        return build_tokenizer(self.token_to_id, self.lowercase)

    def encode(self, text: str) -> list[int]:
        """The token ids of a text, without [CLS] and [SEP]."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` of many texts, in parallel."""
        found = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [each.ids for each in found]

    def encode_texts(self, texts: Sequence[str]) -> Int[Tensor, "n length"]:
        """[CLS] text [SEP], one padded row per text; a long text loses its middle."""
        for text in texts:
            if not text.strip():
                raise InputError(f"expected words, got {text!r}")
        whole = self.max_length - 2
        half = whole // 2
        rows = [
            row if len(row) <= whole else [*row[: whole - half], *row[len(row) - half :]]
            for row in self.encode_batch(texts)
        ]
        return pad_sequences([[self.cls, *row, self.sep] for row in rows], self.max_length)

    def encode_file(self, path: str | Path) -> Int[Tensor, "n length"]:
        """`encode_texts` of the lines of a text file."""
        return self.encode_texts(read_lines(path))

    def encode_question(self, question: str, passage: str) -> EncodedQuestion:
        """The pair as BERT takes it."""
        first = self.tokenizer.encode(question, add_special_tokens=False)
        second = self.tokenizer.encode(passage, add_special_tokens=False)
        tokens = [self.cls, *first.ids, self.sep, *second.ids, self.sep]
        segments = [0] * (len(first.ids) + 2) + [1] * (len(second.ids) + 1)
        none = (0, 0)
        offsets = [none, *first.offsets, none, *second.offsets, none]
        return EncodedQuestion(tokens, segments, offsets)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of these token ids, without [PAD], [CLS] and [SEP]."""
        shown = [number for number in ids if number not in (PAD, self.cls, self.sep)]
        return self.tokenizer.decode(shown, skip_special_tokens=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "wordpiece",
            "max_length": self.max_length,
            "lowercase": self.lowercase,
            "tokens": list(self.tokens),
        }

    @classmethod
    def from_json(cls, state: Any) -> "WordPiece":
        kinds = {"tokens": TEXTS, "max_length": whole(3, MAX_LENGTH), "lowercase": FLAG}
        return cls(**fields(state, "the word pieces", **kinds))

    def save(self, path: str | Path) -> None:
        """Write the vocabulary as JSON, which `read_wordpiece` reads."""
        Path(path).write_text(json.dumps(self.to_json(), ensure_ascii=False) + "\n", "utf-8")


@checked
def read_wordpiece(path: str | Path, max_length: int = 512, lowercase: bool = True) -> WordPiece:
    """A vocabulary from a file.

    path: JSON written by `WordPiece.save`, or BERT's vocab.txt.
    max_length, lowercase: for a vocab.txt, which does not contain them.
    """
    text = read_text(path)
    if text.startswith(SPECIAL[PAD]):
        with errors_naming(path):
            return WordPiece(text.rstrip("\n").split("\n"), max_length, lowercase)
    try:
        return WordPiece.from_json(parse_json(text))
    except ValueError as error:
        raise InputError(
            f"{path} is neither a vocabulary written by WordPiece.save ({error}) nor BERT's "
            "vocab.txt, which begins with [PAD]"
        ) from None


@checked
def train_wordpiece(
    texts: Iterable[str], vocab_size: int = 8000, max_length: int = 128, lowercase: bool = True
) -> WordPiece:
    """A vocabulary learned from texts; the same texts give the same vocabulary.

    texts: the training texts.
    vocab_size: the largest number of tokens, special ones included.
    max_length, lowercase: see `WordPiece`.
    """
    texts = list(texts)
    tokenizer = build_tokenizer({}, lowercase)
    characters = alphabet(texts, tokenizer)
    continued = [f"##{c}" for c in characters if can_continue(c, tokenizer)]
    least = len(SPECIAL) + len(characters) + len(continued)
    if not characters or vocab_size < least:
        raise InputError(
            f"expected texts with letters in them and a vocab_size of {least} or more, the number "
            f"of special tokens and single characters; got {vocab_size}"
        )
    # The trainer would number ##a, ##b, … at random and break ties by these ids, so fix them here.
    trainer = tokenizers_package().trainers.WordPieceTrainer(
        vocab_size=vocab_size,
        special_tokens=[*SPECIAL, *continued],
        initial_alphabet=characters,
        limit_alphabet=len(characters),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    token_to_id = tokenizer.get_vocab()
    tokens = sorted(token_to_id, key=lambda token: token_to_id[token])
    return WordPiece(tokens, max_length, lowercase)


def alphabet(texts: Sequence[str], tokenizer: "Tokenizer") -> list[str]:
    """The most frequent characters of the texts, in the order of their code points."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(tokenizer.normalizer.normalize_str(text))
    seen = sorted((c for c in counts if not c.isspace()), key=lambda c: (-counts[c], c))
    return sorted(seen[:MAX_CHARACTERS])


def can_continue(character: str, tokenizer: "Tokenizer") -> bool:
    """Whether a word may contain it after its first letter; punctuation is a word of its own."""
    return len(tokenizer.pre_tokenizer.pre_tokenize_str(f"a{character}")) == 1


def build_tokenizer(token_to_id: dict[str, int], lowercase: bool) -> "Tokenizer":
    """BERT's pipeline: normalize, split at spaces and marks, then longest piece first."""
    package = tokenizers_package()
    tokenizer = package.Tokenizer(package.models.WordPiece(token_to_id, unk_token=SPECIAL[UNK]))
    tokenizer.normalizer = package.normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = package.pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = package.decoders.WordPiece(prefix="##")
    if token_to_id:
        tokenizer.add_special_tokens([SPECIAL[MASK]])  # a text cannot contain the others
    return tokenizer


def tokenizers_package() -> Any:
    """The package tokenizers, or an error that says how to install it."""
    try:
        import tokenizers
    except ImportError:
        raise InputError(
            "WordPiece needs the package tokenizers; install it with: pip install 'chainrule[text]'"
        ) from None
    return tokenizers

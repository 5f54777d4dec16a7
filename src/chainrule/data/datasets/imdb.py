"""IMDB: 50,000 film reviews, positive or negative.

The vocabulary holds the 10,000 most frequent words of the training reviews. `load` returns the last
400 words of each review in order; `bags` returns the set of its words. The official 25,000 test
reviews are the test split; the seed draws 5,000 for validation from the 25,000 others. Read from
the official archive, or from train.jsonl.gz and test.jsonl.gz with one object {"text", "label"} per
line; reviews are sorted by text, so both give the same rows.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from chainrule.data import cache
from chainrule.data.files import (
    exists,
    gunzip,
    opened_tar,
    parse_json,
    read_member,
    reading,
)
from chainrule.data.splits import About, Split, Splits, stratified_indices
from chainrule.data.state import TEXT, fields, whole
from chainrule.data.text.encoders import BagEncoder, TokenEncoder
from chainrule.data.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary, tokenize
from chainrule.errors import InputError

ABOUT = About(
    task="classification",
    source="http://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
    license="not stated by the publishers",
    citation="Maas, Daly, Pham, Huang, Ng and Potts (2011), Learning Word Vectors for Sentiment "
    "Analysis",
    shapes="x (n, 400) words; y negative or positive; 20,000 / 5,000 / 25,000",
)
CHECKSUM = "md5:7c2ac02c03563afcf9b574c7e56c153a"
ARCHIVE = "imdb/aclImdb_v1.tar.gz"
CLASSES = ("negative", "positive")
REVIEWS = 25_000  # in each part
MAX_REVIEW = 2**20  # bytes
WORDS = 10_000
MAX_WORD = 40  # characters; longer words are cut

Review = tuple[str, int]


class Texts(NamedTuple):
    """The reviews of one part.

    ids: the word ids of all reviews, one after another.
    ends: where each review ends.
    labels: the class of each review.
    """

    ids: np.ndarray
    ends: np.ndarray
    labels: Tensor

    def rows(self) -> list[np.ndarray]:
        return np.split(self.ids, self.ends[:-1])


def load(folder: Path | None = None, seed: int = 0, max_length: int = 400) -> Splits:
    """max_length: words per review; longer reviews lose their beginning."""
    vocabulary, train, test = read(folder)

    def tokens(texts: Texts) -> Tensor:
        return padded([row[-max_length:] for row in texts.rows()], max_length)

    encoder = TokenEncoder(vocabulary, max_length)
    return splits(tokens(train), tokens(test), train, test, seed, encoder)


def bags(folder: Path | None = None, seed: int = 0) -> Splits:
    """The ids of the known words of each review, in ascending order and padded with 0."""
    vocabulary, train, test = read(folder)
    rows = [
        [found[found != UNKNOWN] for found in map(np.unique, texts.rows())]
        for texts in (train, test)
    ]
    length = max(len(row) for part in rows for row in part)
    x, x_test = (padded(part, length) for part in rows)
    return splits(x, x_test, train, test, seed, BagEncoder(vocabulary, length))


def splits(
    x: Tensor, x_test: Tensor, train: Texts, test: Texts, seed: int, encoder: object
) -> Splits:
    rest, held = stratified_indices(train.labels, REVIEWS // 5, seed)
    return Splits(
        Split(x[rest], train.labels[rest]),
        Split(x[held], train.labels[held]),
        Split(x_test, test.labels),
        CLASSES,
        encoder,  # type: ignore[arg-type]
    )


def padded(rows: list[np.ndarray], length: int) -> Tensor:
    """Rows padded with 0, as int32 to halve the memory."""
    filled = np.zeros((len(rows), length), np.int32)
    for number, row in enumerate(rows):
        filled[number, : len(row)] = row
    return torch.from_numpy(filled)


def read(folder: Path | None) -> tuple[Vocabulary, Texts, Texts]:
    """The vocabulary of the training reviews, and both parts as its ids."""
    train, test = paths(folder)
    train_words = cache.decoded(train, words_of_train)
    vocabulary = Vocabulary((*SPECIAL, *train_words[:WORDS].tolist()))
    test_words = cache.decoded(test, words_of_test)
    return (
        vocabulary,
        to_ids(cache.decoded(train, tokens_of_train), train_words, vocabulary),
        to_ids(cache.decoded(test, tokens_of_test), test_words, vocabulary),
    )


def to_ids(tokens: np.ndarray, known: np.ndarray, vocabulary: Vocabulary) -> Texts:
    """Ranks among a part's own words as ids of the vocabulary."""
    word_id = np.array(
        [vocabulary.token_to_id.get(word, UNKNOWN) for word in known.tolist()], np.int32
    )
    ends = np.flatnonzero(tokens < 0)
    labels = torch.from_numpy(-tokens[ends].astype(np.int64) - 1)
    places = ends - np.arange(len(ends))
    return Texts(word_id[tokens[tokens >= 0]], places, labels)


def paths(folder: Path | None) -> tuple[Path, Path]:
    """The files of both parts; the archive holds both."""
    lines = tuple(cache.folder(folder) / "imdb" / f"{part}.jsonl.gz" for part in ("train", "test"))
    if all(map(exists, lines)):
        return lines[0], lines[1]
    archive = cache.fetch(ARCHIVE, ABOUT.source, CHECKSUM, folder)
    return archive, archive


def words_of_train(path: Path) -> np.ndarray:
    return words_by_frequency(path, "train")


def words_of_test(path: Path) -> np.ndarray:
    return words_by_frequency(path, "test")


def tokens_of_train(path: Path) -> np.ndarray:
    return word_ranks(path, "train")


def tokens_of_test(path: Path) -> np.ndarray:
    return word_ranks(path, "test")


def words_by_frequency(path: Path, part: str) -> np.ndarray:
    """All words of a part, the most frequent first, ties in alphabetical order."""
    counts = Counter(word for text, _ in reviews(path, part) for word in tokenized(text))
    return np.array(sorted(counts, key=lambda word: (-counts[word], word)))


def word_ranks(path: Path, part: str) -> np.ndarray:
    """The rank of every word, review after review, each followed by -1 - its label."""
    known = cache.decoded(path, words_of_train if part == "train" else words_of_test)
    rank_of = {word: rank for rank, word in enumerate(known.tolist())}
    flat: list[int] = []
    for text, label in reviews(path, part):
        flat.extend(rank_of[word] for word in tokenized(text))
        flat.append(-1 - label)
    return np.array(flat, np.int32)


def tokenized(text: str) -> list[str]:
    return [word[:MAX_WORD] for word in tokenize(text.replace("<br />", " "))]


def reviews(path: Path, part: str) -> list[Review]:
    """The texts of a part with their labels, sorted by text."""
    found = sorted(from_archive(path, part) if ".tar" in path.name else from_lines(path))
    if [label for _, label in found].count(1) * 2 != len(found) or len(found) != REVIEWS:
        raise cache.damaged(path, f"expected {REVIEWS} reviews, half of them positive")
    return found


def from_lines(path: Path) -> list[Review]:
    """One JSON object per line."""
    content = gunzip(path)
    with reading(path):
        lines = [line for line in content.split(b"\n") if line.strip()]
        if len(lines) > REVIEWS:
            raise InputError(f"expected {REVIEWS} reviews, got {len(lines)}")
        return [from_line(number, line) for number, line in enumerate(lines, 1)]


def from_line(number: int, line: bytes) -> Review:
    row = fields(parse_json(line), f"the review in line {number}", text=TEXT, label=whole(0, 1))
    return row["text"], row["label"]


def from_archive(path: Path, part: str) -> list[Review]:
    """aclImdb/PART/neg/*.txt and …/pos/*.txt, read without unpacking the archive."""
    label = {f"aclImdb/{part}/neg": 0, f"aclImdb/{part}/pos": 1}
    found: list[Review] = []
    with opened_tar(path) as archive:
        for member in archive:
            folder = member.name.rpartition("/")[0]
            if folder in label and member.isfile() and len(found) <= REVIEWS:
                content = read_member(archive, member, MAX_REVIEW)
                found.append((content.decode("utf-8"), label[folder]))
    return found

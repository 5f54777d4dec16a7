"""IMDB: 50,000 film reviews, praise or not.

The 10,000 most frequent words of the training reviews are known. `load` gives the last 400 words of
a review in their order; `bags` gives the set of its words, which is a row of a sparse 0/1 table.
The official 25,000 test reviews are the test split; the seed draws 5,000 for validation out of the
25,000 others. Read from the official archive, or from train.jsonl.gz and test.jsonl.gz with one
object {"text", "label"} a line; reviews are sorted by their text, so both give the same rows.
"""

import gzip
import json
import tarfile
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from chainrule.data import cache
from chainrule.data.splits import About, Split, Splits, draw
from chainrule.data.text.encoders import BagEncoder, TokenEncoder
from chainrule.data.text.vocabulary import SPECIAL, UNKNOWN, Vocabulary, words

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
WORDS = 10_000
LONGEST = 40  # characters of a word that is kept apart from others

Review = tuple[str, int]


class Texts(NamedTuple):
    """The reviews of one part: word numbers one after another, where each review ends, labels."""

    numbers: np.ndarray
    ends: np.ndarray
    labels: Tensor

    def rows(self) -> list[np.ndarray]:
        return np.split(self.numbers, self.ends[:-1])


def load(folder: Path | None = None, seed: int = 0, length: int = 400) -> Splits:
    vocabulary, train, test = read(folder)

    def tokens(texts: Texts) -> Tensor:
        return table([row[-length:] for row in texts.rows()], length)

    return splits(tokens(train), tokens(test), train, test, seed, TokenEncoder(vocabulary, length))


def bags(folder: Path | None = None, seed: int = 0) -> Splits:
    """The known words of each review once, in ascending order, filled up with 0."""
    vocabulary, train, test = read(folder)
    rows = [
        [found[found != UNKNOWN] for found in map(np.unique, texts.rows())]
        for texts in (train, test)
    ]
    length = max(len(row) for part in rows for row in part)
    x, x_test = (table(part, length) for part in rows)
    return splits(x, x_test, train, test, seed, BagEncoder(vocabulary, length))


def splits(
    x: Tensor, x_test: Tensor, train: Texts, test: Texts, seed: int, encoder: object
) -> Splits:
    rest, held = draw(train.labels, REVIEWS // 5, seed)
    return Splits(
        Split(x[rest], train.labels[rest]),
        Split(x[held], train.labels[held]),
        Split(x_test, test.labels),
        CLASSES,
        encoder,  # type: ignore[arg-type]
    )


def table(rows: list[np.ndarray], length: int) -> Tensor:
    """Rows filled up with 0; int32, half the memory of torch's usual whole numbers."""
    filled = np.zeros((len(rows), length), np.int32)
    for number, row in enumerate(rows):
        filled[number, : len(row)] = row
    return torch.from_numpy(filled)


def read(folder: Path | None) -> tuple[Vocabulary, Texts, Texts]:
    """The vocabulary of the training reviews, and both parts in its numbers."""
    train, test = paths(folder)
    train_words = cache.decoded(train, words_of_train)
    vocabulary = Vocabulary((*SPECIAL, *train_words[:WORDS].tolist()))
    test_words = cache.decoded(test, words_of_test)
    return (
        vocabulary,
        in_numbers(cache.decoded(train, tokens_of_train), train_words, vocabulary),
        in_numbers(cache.decoded(test, tokens_of_test), test_words, vocabulary),
    )


def in_numbers(tokens: np.ndarray, known: np.ndarray, vocabulary: Vocabulary) -> Texts:
    """Ranks among a part's own words as numbers of the vocabulary."""
    number = np.array([vocabulary.numbers.get(word, UNKNOWN) for word in known.tolist()], np.int32)
    ends = np.flatnonzero(tokens < 0)
    labels = torch.from_numpy(-tokens[ends].astype(np.int64) - 1)
    places = ends - np.arange(len(ends))
    return Texts(number[tokens[tokens >= 0]], places, labels)


def paths(folder: Path | None) -> tuple[Path, Path]:
    """The two files, or twice the archive."""
    lines = tuple(cache.folder(folder) / "imdb" / f"{part}.jsonl.gz" for part in ("train", "test"))
    if all(path.is_file() for path in lines):
        return lines[0], lines[1]
    archive = cache.fetch(ARCHIVE, ABOUT.source, CHECKSUM, folder)
    return archive, archive


def words_of_train(path: Path) -> np.ndarray:
    return ranked(path, "train")


def words_of_test(path: Path) -> np.ndarray:
    return ranked(path, "test")


def tokens_of_train(path: Path) -> np.ndarray:
    return ranks(path, "train")


def tokens_of_test(path: Path) -> np.ndarray:
    return ranks(path, "test")


def ranked(path: Path, part: str) -> np.ndarray:
    """All words of a part, the most frequent first, equally frequent ones by alphabet."""
    counts = Counter(word for text, _ in reviews(path, part) for word in tokenized(text))
    return np.array(sorted(counts, key=lambda word: (-counts[word], word)))


def ranks(path: Path, part: str) -> np.ndarray:
    """The rank of every word, review after review; after each, -1 - its label."""
    known = cache.decoded(path, words_of_train if part == "train" else words_of_test)
    number = {word: rank for rank, word in enumerate(known.tolist())}
    flat: list[int] = []
    for text, label in reviews(path, part):
        flat.extend(number[word] for word in tokenized(text))
        flat.append(-1 - label)
    return np.array(flat, np.int32)


def tokenized(text: str) -> list[str]:
    return [word[:LONGEST] for word in words(text.replace("<br />", " "))]


def reviews(path: Path, part: str) -> list[Review]:
    """The texts of a part with their labels, in the order of the texts."""
    try:
        found = sorted(from_archive(path, part) if ".tar" in path.name else from_lines(path))
    except (OSError, EOFError, ValueError, KeyError, zlib.error, tarfile.TarError) as error:
        raise cache.damaged(path, str(error)) from error
    if [label for _, label in found].count(1) * 2 != len(found) or len(found) != REVIEWS:
        raise cache.damaged(path, f"expected {REVIEWS} reviews, half of them positive")
    return found


def from_lines(path: Path) -> list[Review]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [(row["text"], int(row["label"])) for row in map(json.loads, file)]


def from_archive(path: Path, part: str) -> list[Review]:
    """aclImdb/PART/neg/*.txt and …/pos/*.txt; nothing is unpacked."""
    label = {f"aclImdb/{part}/neg": 0, f"aclImdb/{part}/pos": 1}
    found = []
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            folder = member.name.rpartition("/")[0]
            stream = archive.extractfile(member) if folder in label and member.isfile() else None
            if stream is not None:
                found.append((stream.read().decode("utf-8"), label[folder]))
    return found

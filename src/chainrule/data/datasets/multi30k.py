"""Multi30k: captions of photographs in German and in English, to be translated.

29,000 pairs of sentences to learn from, 1,014 for validation and the 1,000 of test_2016_flickr, all
lower-cased and cut into words and marks; words seen once are unknown. x holds the German words, y
the English ones between the marks of begin and end. The split is the publishers'; the seed has
nothing to draw.
"""

import gzip
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from chainrule.data import cache
from chainrule.data.splits import About, Split, Splits
from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import (
    BEGIN,
    END,
    UNKNOWN,
    Vocabulary,
    padded,
    word_vocabulary,
    words,
)

ABOUT = About(
    task="translation",
    source="https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/",
    license="CC BY-NC-SA 4.0",
    citation="Elliott, Frank, Sima'an and Specia (2016), Multi30K: Multilingual English-German "
    "Image Descriptions",
    shapes="x (n, 44) German words; y (n, 42) English words; 29,000 / 1,014 / 1,000",
)


@dataclass(frozen=True, repr=False)
class Captions(Splits):
    """The splits with what was published in English, which translations are compared with."""

    references: dict[str, list[str]] = field(default_factory=dict)


PARTS = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}
LEAST = 2  # times a word must have been seen in training to be known


def load(folder: Path | None = None, seed: int = 0) -> Captions:
    german, english = sentences(folder, "de"), sentences(folder, "en")
    texts = [
        [[words(line) for line in part] for part in side.values()] for side in (german, english)
    ]
    source, target = (word_vocabulary(side[0], least=LEAST) for side in texts)
    x, y = rows(texts[0], source, marks=False), rows(texts[1], target, marks=True)
    train, validation, test = (Split(*pair) for pair in zip(x, y, strict=True))
    encoder = PairEncoder(source, target)
    references = dict(zip(("train", "validation", "test"), english.values(), strict=True))
    return Captions(train, validation, test, target.tokens, encoder, references=references)


def sentences(folder: Path | None, language: str) -> dict[str, list[str]]:
    """The lines of each part in one language, as they were published."""
    return {part: read(part, language, folder) for part in PARTS}


def read(part: str, language: str, folder: Path | None) -> list[str]:
    name = f"{part}.{language}.gz"
    path = cache.fetch(f"multi30k/{name}", ABOUT.source + name, None, folder)
    try:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise cache.damaged(path, str(error)) from error
    if len(lines) != PARTS[part]:
        raise cache.damaged(path, f"expected {PARTS[part]} sentences, got {len(lines)}")
    return lines


def rows(texts: list[list[list[str]]], vocabulary: Vocabulary, marks: bool) -> list[Tensor]:
    """Token numbers of every part, one row a sentence, all of one width."""
    number = vocabulary.numbers.get
    before, after = ([BEGIN], [END]) if marks else ([], [])
    found = [
        [[*before, *(number(w, UNKNOWN) for w in text), *after] for text in part] for part in texts
    ]
    longest = max(len(row) for part in found for row in part)
    return [padded(part, longest) for part in found]

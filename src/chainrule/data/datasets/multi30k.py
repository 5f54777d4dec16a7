"""Multi30k: translation of image captions from German to English.

All sentences are lower-cased and tokenized; words that occur once in training are unknown. x holds
the German words, y the English words between begin and end tokens. The split is the published one:
29,000 training and 1,014 validation pairs, and the 1,000 of test_2016_flickr; the seed has no
effect.
"""

from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from chainrule.data import cache
from chainrule.data.files import gunzip, reading
from chainrule.data.splits import About, Split, Splits
from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import (
    BEGIN,
    END,
    UNKNOWN,
    Vocabulary,
    pad_sequences,
    tokenize,
    word_vocabulary,
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
    """Splits with the published English sentences, the references of translation metrics.

    references: the English sentences of each split, keyed "train", "validation" and "test".
    """

    references: dict[str, list[str]] = field(default_factory=dict)


PARTS = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}
CHECKSUMS = {  # SHA-256 of the unpacked files
    "train.de": "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    "train.en": "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    "val.de": "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    "val.en": "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    "test_2016_flickr.de": "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
    "test_2016_flickr.en": "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
}
MIN_COUNT = 2  # occurrences in training that make a word known


def load(folder: Path | None = None, seed: int = 0) -> Captions:
    german, english = sentences(folder, "de"), sentences(folder, "en")
    texts = [
        [[tokenize(line) for line in part] for part in side.values()] for side in (german, english)
    ]
    source, target = (word_vocabulary(side[0], min_count=MIN_COUNT) for side in texts)
    x, y = rows(texts[0], source, delimiters=False), rows(texts[1], target, delimiters=True)
    train, validation, test = (Split(*pair) for pair in zip(x, y, strict=True))
    encoder = PairEncoder(source, target)
    references = dict(zip(("train", "validation", "test"), english.values(), strict=True))
    return Captions(train, validation, test, target.tokens, encoder, references=references)


def sentences(folder: Path | None, language: str) -> dict[str, list[str]]:
    """The published lines of each part in one language."""
    return {part: read(part, language, folder) for part in PARTS}


def read(part: str, language: str, folder: Path | None) -> list[str]:
    name, checksum = f"{part}.{language}.gz", CHECKSUMS[f"{part}.{language}"]
    where = f"multi30k/{name}", ABOUT.source + name
    path = cache.fetch(*where, f"gunzip-sha256:{checksum}", folder)
    content = gunzip(path)
    with reading(path):
        lines = content.decode().splitlines()
    if len(lines) != PARTS[part]:
        raise cache.damaged(path, f"expected {PARTS[part]} sentences, got {len(lines)}")
    return lines


def rows(texts: list[list[list[str]]], vocabulary: Vocabulary, delimiters: bool) -> list[Tensor]:
    """Token ids of every part, one padded row per sentence."""
    token_id = vocabulary.token_to_id.get
    before, after = ([BEGIN], [END]) if delimiters else ([], [])
    found = [
        [[*before, *(token_id(w, UNKNOWN) for w in text), *after] for text in part]
        for part in texts
    ]
    longest = max(len(row) for part in found for row in part)
    return [pad_sequences(part, longest) for part in found]

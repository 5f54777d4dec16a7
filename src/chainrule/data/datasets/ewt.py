"""UD English EWT: sentences from the web, each word tagged with its part of speech.

Weblogs, newsgroups, e-mails, reviews and answers, tokenized by hand and tagged with the 17
universal part-of-speech tags. x holds the ids of the lower-case words, y the tags, both padded with
0; words that occur once in training are unknown. `sentences` returns the words themselves. The
split is the published one: 12,544 training, 2,001 validation and 2,077 test sentences; the seed has
no effect.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from torch import Tensor

from chainrule.data import cache
from chainrule.data.files import MAX_UNPACKED, exists, gunzip, read_bytes, reading
from chainrule.data.splits import About, Split, Splits
from chainrule.data.state import shown
from chainrule.data.text.vocabulary import UNKNOWN, pad_sequences, word_vocabulary

ABOUT = About(
    task="tagging",
    source="https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/master/",
    license="CC BY-SA 4.0",
    citation="Silveira, Dozat, de Marneffe, Bowman, Connor, Bauer and Manning (2014), A Gold "
    "Standard Dependency Corpus for English",
    shapes="x (n, 159) words; y (n, 159) tags; 12,544 / 2,001 / 2,077",
)
PARTS = {"train": "train", "validation": "dev", "test": "test"}
CHECKSUMS = {
    "train": "3fb78e2b55482c8ee00caa653af436c88c9e5bc9a73ce26e4ae3ddc79d2b7e7b",
    "dev": "531a54ff90d6ab12201c5a50c3e78e6ddac4de69abc4bce5d275d3cd29efe2b6",
    "test": "e266e515a0a7547657ed3d90d9ba46487d6bd251f27ad4269d4e8a427c8555cd",
}
NONE = "<pad>"
TAGS = (
    *(NONE, "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM"),
    *("PART", "PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
)
COLUMNS = 10  # of a CoNLL-U line
FORM, UPOS = 1, 3
MIN_COUNT = 2  # occurrences in training that make a word known


class Sentence(NamedTuple):
    """One tagged sentence.

    words: as the treebank tokenizes them.
    tags: the index of each word's tag in `TAGS`.
    text: the sentence as written.
    document: the number of its document.
    """

    words: list[str]
    tags: list[int]
    text: str
    document: int


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    parts = sentences(folder)
    lower = {name: [[w.lower() for w in s.words] for s in part] for name, part in parts.items()}
    vocabulary = word_vocabulary(lower["train"], min_count=MIN_COUNT)
    token_id = vocabulary.token_to_id.get
    longest = max(len(s.words) for part in parts.values() for s in part)

    def split(name: str) -> Split:
        x: Tensor = pad_sequences(
            [[token_id(w, UNKNOWN) for w in row] for row in lower[name]], longest
        )
        return Split(x, pad_sequences([s.tags for s in parts[name]], longest))

    return Splits(split("train"), split("validation"), split("test"), TAGS)


def sentences(folder: Path | None = None) -> dict[str, list[Sentence]]:
    """The sentences of each split, in their published order."""
    return {name: read(path_of(part, folder)) for name, part in PARTS.items()}


def path_of(part: str, folder: Path | None) -> Path:
    """The published file, or a gzipped copy of it in the data folder."""
    name = f"en_ewt-ud-{part}.conllu"
    gzipped = cache.folder(folder) / "ud_english_ewt" / f"{name}.gz"
    if exists(gzipped):
        return gzipped
    checksum = f"sha256:{CHECKSUMS[part]}"
    return cache.fetch(f"ud_english_ewt/{name}", ABOUT.source + name, checksum, folder)


def read(path: Path) -> list[Sentence]:
    """CoNLL-U: one word per line in ten columns, a blank line after every sentence."""
    content = gunzip(path) if path.suffix == ".gz" else read_bytes(path, MAX_UNPACKED)
    found, document = [], 0
    with reading(path):
        for block in content.decode().strip().split("\n\n"):
            lines = block.split("\n")
            document += any(line.startswith("# newdoc") for line in lines)
            found.append(sentence(lines, document))
    return found


def sentence(lines: Sequence[str], document: int) -> Sentence:
    """The words 1, 2, …; ranges such as 1-2 (don't) and empty words such as 8.1 are skipped."""
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    if not all(len(row) == COLUMNS for row in rows):
        raise ValueError(f"expected {COLUMNS} columns, got {shown(lines[-1])}")
    words = [row for row in rows if row[0].isdecimal()]
    unknown_tags = {row[UPOS] for row in words} - {*TAGS[1:]}
    if unknown_tags or not words:
        got = shown(min(unknown_tags)) if unknown_tags else "none"
        raise ValueError(f"expected words with universal tags, got {got}")
    forms = [row[FORM] for row in words]
    text = next((line[9:] for line in lines if line.startswith("# text = ")), " ".join(forms))
    return Sentence(forms, [TAGS.index(row[UPOS]) for row in words], text, document)

"""Your own tagged sentences: CoNLL-U, or columns of a word and its tags.

    1   They   they   PRON   PRP   …        CoNLL-U: ten columns, a tab between two
    They   PRON                             columns: a word first, the tag last

One word per line, a blank line after every sentence. Words and empty nodes of CoNLL-U that are no
word of their own, such as 1-2 and 8.1, are skipped, and so are lines of -DOCSTART-.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from chainrule.arguments import checked
from chainrule.data.files import errors_naming
from chainrule.data.splits import TEST_SEED, Seed, stratified_indices
from chainrule.data.state import shown
from chainrule.data.text.vocabulary import read_text
from chainrule.errors import InputError
from chainrule.registry import unknown

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
DOCUMENT = "-DOCSTART-"
TEST_SHARE, VALIDATION_SHARE = 0.2, 0.1
LEAST = 10  # sentences
SPLITS = ("train", "validation", "test")


class TaggedSentence(NamedTuple):
    """The words of a sentence and the tag of each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


class TaggedSentences(NamedTuple):
    """Tagged sentences in three splits.

    splits: the sentences by split.
    tags: every tag, in alphabetical order.
    remarks: what was noticed.
    """

    splits: dict[str, list[TaggedSentence]]
    tags: tuple[str, ...]
    remarks: tuple[str, ...]


@checked
def tagged_sentences(
    path: str | Path, column: str = "", seed: Seed = 0, test: str | Path | None = None
) -> TaggedSentences:
    """The sentences of a file in three splits.

    path: a CoNLL-U file, or one of columns, plain or gzipped.
    column: of the tag: a name of CoNLL-U such as xpos, or a number from 1; by default upos, and in
        a file of columns the last.
    seed: draws the validation split, a tenth of the training sentences.
    test: a file of the test split; None holds out a fifth of the sentences, whatever the seed.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("".join(f"Word{k} NOUN\\nends VERB\\n\\n" for k in range(20)))
    ...     file.flush()
    ...     found = tagged_sentences(file.name)
    >>> found.tags, found.splits["test"][0].tags
    (('NOUN', 'VERB'), ('NOUN', 'VERB'))
    """
    found = read_conll(path, column)
    if len(found) < LEAST:
        raise InputError(f"{path}: expected at least {LEAST} sentences, got {len(found)}")
    kept, last = found, read_conll(test, column) if test else []
    if test is None:
        rest, held = held_out(len(found), TEST_SHARE, TEST_SEED)
        kept, last = [found[k] for k in rest], [found[k] for k in held]
    rest, held = held_out(len(kept), VALIDATION_SHARE, seed)
    parts = [kept[k] for k in rest], [kept[k] for k in held], last
    tags = sorted({tag for sentence in (*kept, *last) for tag in sentence.tags})
    if len(tags) < 2:
        raise InputError(f"{path}: expected at least two tags, got only {shown(tags[0])}")
    return TaggedSentences(
        dict(zip(SPLITS, parts, strict=True)), tuple(tags), notes(kept, parts[0], last)
    )


def held_out(number: int, share: float, seed: int) -> tuple[list[int], list[int]]:
    """(rest, held out) of this many sentences."""
    rest, held = stratified_indices(torch.zeros(number).long(), round(share * number), seed)
    return rest.tolist(), held.tolist()


def notes(
    known: Sequence[TaggedSentence], train: Sequence[TaggedSentence], test: Sequence[TaggedSentence]
) -> tuple[str, ...]:
    """Test sentences that training has seen, and tags that it has not."""
    seen = {sentence.words for sentence in known}
    repeated = sum(sentence.words in seen for sentence in test)
    trained = {tag for sentence in train for tag in sentence.tags}
    strange = sorted({tag for sentence in test for tag in sentence.tags} - trained)
    found = []
    if repeated:
        found.append(f"{repeated:,} of {len(test):,} test sentences also occur in training")
    if strange:
        found.append(f"tags of the test split that training lacks: {shown(', '.join(strange))}")
    return tuple(found)


def read_conll(path: str | Path, column: str = "") -> list[TaggedSentence]:
    """The sentences of a file; see `tagged_sentences`."""
    lines = read_text(path).split("\n")
    with errors_naming(path):
        rows = [cells(line) for line in lines]
        first = next((row for row in rows if len(row) > 1 and row[0] not in ("#", DOCUMENT)), None)
        if first is None:
            raise InputError("expected a word and its tag in every line, got none")
        treebank = len(first) == len(COLUMNS) and first[0].split("-")[0].isdecimal()
        word, tag = (1, tag_of_treebank(column)) if treebank else (0, tag_column(column, first))
        return sentences(rows, len(first), word, tag)


def cells(line: str) -> list[str]:
    """The columns of a line: between tabs where there are any, else between spaces."""
    return line.rstrip().split("\t") if "\t" in line else line.split()


def sentences(rows: list[list[str]], width: int, word: int, tag: int) -> list[TaggedSentence]:
    """Rows between blank lines; every fault is named by its line."""
    found: list[TaggedSentence] = []
    words: list[str] = []
    tags: list[str] = []
    for number, row in enumerate([*rows, []], 1):
        if not any(row):
            if words:
                found.append(TaggedSentence(tuple(words), tuple(tags)))
            words, tags = [], []
        elif row[0] == DOCUMENT or (row[0].startswith("#") and len(row) != width):
            continue
        elif len(row) != width or not row[word] or not row[tag]:
            got = shown(" ".join(row))
            raise InputError(f"line {number}: expected {width} columns as before, got {got}")
        elif not word or row[0].isdecimal():
            words.append(row[word])
            tags.append(row[tag])
    return found


def tag_of_treebank(column: str) -> int:
    """The place of a column of CoNLL-U by name or number."""
    name = column.lower() or "upos"
    if name in COLUMNS:
        return COLUMNS.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(COLUMNS):
        return int(name) - 1
    raise InputError(unknown("`column` of CoNLL-U", column, list(COLUMNS)))


def tag_column(column: str, row: list[str]) -> int:
    """The place of a column by number, by default the last."""
    if not column:
        return len(row) - 1
    if not column.isdecimal() or not 2 <= int(column) <= len(row):
        known = "2" if len(row) == 2 else f"a number from 2 to {len(row)}"
        raise InputError(
            f"expected {known} as `column`, because column 1 has the words, got {column!r}"
        )
    return int(column) - 1

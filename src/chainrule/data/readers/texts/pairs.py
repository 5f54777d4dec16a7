"""Your own sentence pairs: a sentence and its translation in each line, a tab between them.

    Go.	Va !

The sentences are lower-cased and tokenized; words that training has once are unknown. A tenth of
the sentences, at most 1,000, is the test split and as many are for validation. All translations of
a sentence are in the same split.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch

from chainrule.arguments import Count, Natural, checked
from chainrule.data.datasets.multi30k import MIN_COUNT, Captions, rows
from chainrule.data.splits import TEST_SEED, Seed, Split, stratified_indices
from chainrule.data.state import shown
from chainrule.data.text.encoders import PairEncoder
from chainrule.data.text.vocabulary import read_text, tokenize, word_vocabulary
from chainrule.errors import InputError

SHARE, MOST = 0.1, 1000  # of the sentences, for validation and for the test
LEAST = 30  # pairs


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


@checked
def sentence_pairs(
    path: str | Path,
    vocab_size: Count = 10_000,
    swap: bool = False,
    max_words: Count = 50,
    max_pairs: Natural = 0,
    seed: Seed = 0,
) -> Captions:
    """The pairs of a file in three splits, with references for BLEU.

    path: a text file, plain or gzipped; columns after the second are ignored.
    vocab_size: most frequent words of each language that are known.
    swap: translate from the second column to the first.
    max_words: pairs with a longer sentence are dropped.
    max_pairs: how many pairs are used, drawn at random; 0: all.
    seed: draws the validation split; the test split is always the same.

    >>> import tempfile
    >>> lines = [f"the {w} number is {k}\\tle {w} nombre est {k}" for k in range(20) for w in "ab"]
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("\\n".join(lines))
    ...     file.flush()
    ...     data = sentence_pairs(file.name)
    >>> len(data.train.x), len(data.references["test"])
    (32, 4)
    """
    found, remarks = read_pairs(path, swap, max_words)
    if max_pairs and max_pairs < len(found):
        order = torch.randperm(len(found), generator=torch.Generator().manual_seed(TEST_SEED))
        remarks += (f"{max_pairs:,} of {len(found):,} pairs are used, drawn at random",)
        found = [found[k] for k in sorted(order[:max_pairs].tolist())]
    if len(found) < LEAST:
        raise InputError(f"{path}: expected at least {LEAST} pairs, got {len(found)}")
    parts = split_by_source(found, seed)
    texts = [[[tokenize(pair[side]) for pair in part] for part in parts] for side in (0, 1)]
    source, target = (word_vocabulary(side[0], vocab_size, MIN_COUNT) for side in texts)
    x, y = rows(texts[0], source, delimiters=False), rows(texts[1], target, delimiters=True)
    train, validation, test = (Split(*pair) for pair in zip(x, y, strict=True))
    names = ("train", "validation", "test")
    return Captions(
        train,
        validation,
        test,
        target.tokens,
        PairEncoder(source, target),
        remarks + repeated(parts),
        references={n: [p.target for p in part] for n, part in zip(names, parts, strict=True)},
    )


def read_pairs(path: str | Path, swap: bool, max_words: int) -> tuple[list[Pair], tuple[str, ...]]:
    """(different pairs, remarks); a line without two sentences is refused by its number."""
    found: dict[Pair, None] = {}
    number = long = 0
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        first, second = [*line.split("\t"), ""][:2]
        if not tokenize(first) or not tokenize(second):
            raise InputError(
                f"{path}, line {number}: expected a sentence, a tab and its translation, got "
                f"{shown(line)}"
            )
        if max(len(tokenize(first)), len(tokenize(second))) > max_words:
            long += 1
            continue
        pair = Pair(second.strip(), first.strip()) if swap else Pair(first.strip(), second.strip())
        found[pair] = None
    remarks = []
    if long:
        remarks.append(
            f"{long:,} pairs were dropped: a sentence has more than {max_words} words (`max_words`)"
        )
    return list(found), tuple(remarks)


def split_by_source(pairs: Sequence[Pair], seed: int) -> list[list[Pair]]:
    """(train, validation, test), each sentence with all its translations in one of them."""
    sources = list(dict.fromkeys(pair.source for pair in pairs))
    size = max(1, min(MOST, round(SHARE * len(sources))))
    kept, tested = stratified_indices(torch.zeros(len(sources)).long(), size, TEST_SEED)
    train, held = stratified_indices(torch.zeros(len(kept)).long(), size, seed)
    place = {sources[k]: 2 for k in tested.tolist()}
    place |= {sources[k]: 1 for k in kept[held].tolist()}
    place |= {sources[k]: 0 for k in kept[train].tolist()}
    return [[pair for pair in pairs if place[pair.source] == split] for split in range(3)]


def repeated(parts: Sequence[Sequence[Pair]]) -> tuple[str, ...]:
    """A note on test translations that training has seen, of other sentences."""
    seen = {pair.target for part in parts[:2] for pair in part}
    count = sum(pair.target in seen for pair in parts[2])
    total = len(parts[2])
    if not count:
        return ()
    return (f"{count:,} of {total:,} test translations also occur in training, of other sentences",)

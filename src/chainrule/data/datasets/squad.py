"""SQuAD 1.1: questions on passages of Wikipedia, whose answers are parts of the passage.

The official dev articles are the test split, and the seed draws a tenth of the training articles
for validation. Where dev-v1.1.json alone lies in the data folder (or packed as .json.zip), its 48
articles are split: 12 to test, of the others 4 for validation, drawn by the seed. No article is in
two splits. x holds the words of the question, a mark, and the words of the passage, 400 in all; y
the places in x of the first and the last word of the answer. Questions whose answer lies beyond are
left out of x; `questions` has all of them, as they are.
"""

import json
import zipfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from chainrule.data import cache
from chainrule.data.splits import TEST_SEED, About, Split, Splits
from chainrule.data.text.vocabulary import BEGIN, UNKNOWN, WORD, Vocabulary, padded, word_vocabulary

ABOUT = About(
    task="questions",
    source="https://rajpurkar.github.io/SQuAD-explorer/dataset/",
    license="CC BY-SA 4.0",
    citation="Rajpurkar, Zhang, Lopyrev and Liang (2016), SQuAD: 100,000+ Questions for Machine "
    "Comprehension of Text",
    shapes="x (n, 400) words of question and passage; y (n, 2) first and last word of the answer; "
    "87,599 questions in 442 articles / 10,570 in 48",
)
CHECKSUMS = {
    "train": "md5:981b29407e0affa3b1b156f72073b945",
    "dev": "md5:3e85deb501d4e538b6bc56f786231552",
}
WORDS = 10_000
LENGTH = 400
TESTED = 12  # of the dev articles, where there are no others
HELD = 4  # of the rest, for validation
SHARE = 10  # one in so many training articles, where there are some
PARTS = ("train", "validation", "test")

Offsets = Sequence[tuple[int, int]]


class Answer(NamedTuple):
    """A part of the passage, and the place of its first character."""

    start: int
    text: str


class Question(NamedTuple):
    """What is asked of which passage of which article, and what people answered."""

    text: str
    passage: str
    answers: tuple[Answer, ...]
    article: str


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    parts = questions(folder, seed)
    seen = (
        [word for word, _ in cut(text)]
        for question in parts["train"] + parts["validation"]  # the same ones for every seed
        for text in (question.text, question.passage)
    )
    vocabulary = word_vocabulary(seen, most=WORDS)
    train, validation, test = (split(parts[name], vocabulary) for name in PARTS)
    return Splits(train, validation, test)


def split(asked: Sequence[Question], vocabulary: Vocabulary) -> Split:
    """Questions whose answer is within reach."""
    number = vocabulary.numbers.get
    rows, places = [], []
    for question in asked:
        before = [number(word, UNKNOWN) for word, _ in cut(question.text)]
        words = cut(question.passage)
        first, last = token_span([place for _, place in words], question.answers[0])
        behind = len(before) + 1
        if behind + last < LENGTH:
            row = [*before, BEGIN, *(number(word, UNKNOWN) for word, _ in words)]
            rows.append(row[:LENGTH])
            places.append((behind + first, behind + last))
    return Split(padded(rows, LENGTH), torch.tensor(places))


def cut(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Lower-case words and marks, each with where it begins and ends."""
    return [(found.group().lower(), found.span()) for found in WORD.finditer(text)]


def token_span(offsets: Offsets, answer: Answer) -> tuple[int, int]:
    """The first and the last token that share a character with the answer."""
    end = answer.start + len(answer.text)
    inside = [k for k, (a, b) in enumerate(offsets) if a < end and b > answer.start]
    return (inside[0], inside[-1]) if inside else (len(offsets), len(offsets))


def questions(folder: Path | None = None, seed: int = 0) -> dict[str, list[Question]]:
    """The questions of each part, article after article."""
    paths = {part: local(part, folder) for part in CHECKSUMS}
    if paths["dev"] and not paths["train"]:
        rest, test = drawn(read(paths["dev"]), TESTED, TEST_SEED)
        train, validation = drawn(rest, HELD, seed)
    else:
        found = {part: path or fetched(part, folder) for part, path in paths.items()}
        articles, test = read(found["train"]), read(found["dev"])
        train, validation = drawn(articles, max(1, len(articles) // SHARE), seed)
    parts = (train, validation, test)
    return {name: [*chain(*part.values())] for name, part in zip(PARTS, parts, strict=True)}


def local(part: str, folder: Path | None) -> Path | None:
    """The file of the data folder, plain or packed."""
    names = (f"squad/{part}-v1.1.json{suffix}" for suffix in ("", ".zip"))
    paths = (cache.folder(folder) / name for name in names)
    return next((path for path in paths if path.is_file()), None)


def fetched(part: str, folder: Path | None) -> Path:
    name = f"{part}-v1.1.json"
    return cache.fetch(f"squad/{name}", ABOUT.source + name, CHECKSUMS[part], folder)


Articles = dict[str, list[Question]]


def drawn(articles: Articles, number: int, seed: int) -> tuple[Articles, Articles]:
    """(rest, held out): whole articles."""
    names = list(articles)
    held = {*np.random.default_rng(seed).permutation(len(names))[:number].tolist()}
    parts: tuple[Articles, Articles] = ({}, {})
    for place, name in enumerate(names):
        parts[place in held][name] = articles[name]
    return parts


def read(path: Path) -> Articles:
    """The questions of every article; an answer must stand where it is said to."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                content = archive.read(path.stem)
        else:
            content = path.read_bytes()
        return {
            article["title"]: [
                question(asked, paragraph["context"], article["title"])
                for paragraph in article["paragraphs"]
                for asked in paragraph["qas"]
            ]
            for article in json.loads(content)["data"]
        }
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise cache.damaged(path, str(error)) from error


def question(asked: dict[str, Any], passage: str, article: str) -> Question:
    answers = tuple(Answer(found["answer_start"], found["text"]) for found in asked["answers"])
    for start, text in answers:
        if passage[start : start + len(text)] != text:
            raise ValueError(f"the answer {text!r} does not stand at {start} of its passage")
    if not answers:
        raise ValueError(f"the question {asked['question']!r} has no answer")
    return Question(asked["question"], passage, answers, article)

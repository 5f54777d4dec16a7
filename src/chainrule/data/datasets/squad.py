"""SQuAD 1.1: questions about passages of Wikipedia whose answers are spans of the passage.

The official dev articles are the test split, and the seed draws a tenth of the training articles
for validation. If the data folder has only dev-v1.1.json (or its .json.zip), its 48 articles are
split: 12 for the test, and 4 of the others for validation, drawn by the seed. No article is in two
splits. x holds the words of the question, a separator, and the words of the passage, 400 in all; y
the positions in x of the first and last word of the answer. Questions whose answer lies beyond are
dropped from x; `questions` returns all of them as text.
"""

import zipfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from chainrule.data import cache
from chainrule.data.files import (
    MAX_UNPACKED,
    at_most,
    exists,
    opened,
    parse_json,
    reading,
    unzip,
)
from chainrule.data.splits import TEST_SEED, About, Split, Splits
from chainrule.data.state import LIST, TEXT, fields, shown, whole
from chainrule.data.text.vocabulary import (
    BEGIN,
    UNKNOWN,
    WORD,
    Vocabulary,
    pad_sequences,
    word_vocabulary,
)
from chainrule.errors import InputError

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
VOCAB_SIZE = 10_000  # words
LENGTH = 400
DEV_TEST, DEV_VALIDATION = 12, 4  # articles, where only the dev file exists
VALIDATION_ONE_IN = 10  # training articles
PARTS = ("train", "validation", "test")

Offsets = Sequence[tuple[int, int]]


class Answer(NamedTuple):
    """A span of the passage, and the index of its first character."""

    start: int
    text: str


class Question(NamedTuple):
    """A question about a passage of an article, and the answers that annotators gave."""

    text: str
    passage: str
    answers: tuple[Answer, ...]
    article: str


def load(folder: Path | None = None, seed: int = 0) -> Splits:
    parts = questions(folder, seed)
    seen = (
        [word for word, _ in tokenize(text)]
        for question in parts["train"] + parts["validation"]  # together the same for every seed
        for text in (question.text, question.passage)
    )
    vocabulary = word_vocabulary(seen, max_size=VOCAB_SIZE)
    train, validation, test = (split(parts[name], vocabulary) for name in PARTS)
    return Splits(train, validation, test)


def split(asked: Sequence[Question], vocabulary: Vocabulary) -> Split:
    """The questions whose answer lies within the first LENGTH words."""
    token_id = vocabulary.token_to_id.get
    rows, spans = [], []
    for question in asked:
        before = [token_id(word, UNKNOWN) for word, _ in tokenize(question.text)]
        words = tokenize(question.passage)
        first, last = token_span([span for _, span in words], question.answers[0])
        start = len(before) + 1
        if start + last < LENGTH:
            row = [*before, BEGIN, *(token_id(word, UNKNOWN) for word, _ in words)]
            rows.append(row[:LENGTH])
            spans.append((start + first, start + last))
    return Split(pad_sequences(rows, LENGTH), torch.tensor(spans))


def tokenize(text: str) -> list[tuple[str, tuple[int, int]]]:
    """Lower-case words and punctuation marks, each with its (start, end) in the text."""
    return [(found.group().lower(), found.span()) for found in WORD.finditer(text)]


def token_span(offsets: Offsets, answer: Answer) -> tuple[int, int]:
    """The first and last token that overlap the answer."""
    end = answer.start + len(answer.text)
    inside = [k for k, (a, b) in enumerate(offsets) if a < end and b > answer.start]
    return (inside[0], inside[-1]) if inside else (len(offsets), len(offsets))


def questions(folder: Path | None = None, seed: int = 0) -> dict[str, list[Question]]:
    """The questions of each split, article by article."""
    paths = {part: local_file(part, folder) for part in CHECKSUMS}
    if paths["dev"] and not paths["train"]:
        rest, test = split_articles(read(paths["dev"]), DEV_TEST, TEST_SEED)
        train, validation = split_articles(rest, DEV_VALIDATION, seed)
    else:
        found = {part: path or fetch_file(part, folder) for part, path in paths.items()}
        articles, test = read(found["train"]), read(found["dev"])
        train, validation = split_articles(
            articles, max(1, len(articles) // VALIDATION_ONE_IN), seed
        )
    parts = (train, validation, test)
    return {name: [*chain(*part.values())] for name, part in zip(PARTS, parts, strict=True)}


def local_file(part: str, folder: Path | None) -> Path | None:
    """The file in the data folder, plain or zipped; None if there is none."""
    names = (f"squad/{part}-v1.1.json{suffix}" for suffix in ("", ".zip"))
    paths = (cache.folder(folder) / name for name in names)
    return next((path for path in paths if exists(path)), None)


def fetch_file(part: str, folder: Path | None) -> Path:
    name = f"{part}-v1.1.json"
    return cache.fetch(f"squad/{name}", ABOUT.source + name, CHECKSUMS[part], folder)


Articles = dict[str, list[Question]]


def split_articles(articles: Articles, number: int, seed: int) -> tuple[Articles, Articles]:
    """(rest, held out), article by article."""
    names = list(articles)
    held = {*np.random.default_rng(seed).permutation(len(names))[:number].tolist()}
    parts: tuple[Articles, Articles] = ({}, {})
    for index, name in enumerate(names):
        parts[index in held][name] = articles[name]
    return parts


def read(path: Path) -> Articles:
    """The questions of every article; an answer that is not at its stated position is refused."""
    with opened(path) as stream, reading(path):
        if path.suffix == ".zip":
            with zipfile.ZipFile(stream) as archive:
                content = unzip(archive, path.stem)
        else:
            content = at_most(stream, MAX_UNPACKED)
        articles = fields(parse_json(content), "the file", data=LIST)["data"]
        return dict(article(number, state) for number, state in enumerate(articles, 1))


def article(number: int, state: Any) -> tuple[str, list[Question]]:
    """The title and the questions of an article."""
    what = f"article {number}"
    found = fields(state, what, title=TEXT, paragraphs=LIST)
    questions = []
    for count, paragraph in enumerate(found["paragraphs"], 1):
        where = f"paragraph {count} of {what}"
        known = fields(paragraph, where, context=TEXT, qas=LIST)
        for asked in known["qas"]:
            questions.append(question(asked, known["context"], found["title"], where))
    return found["title"], questions


def question(state: Any, passage: str, title: str, where: str) -> Question:
    asked = fields(state, f"a question in {where}", question=TEXT, answers=LIST)
    kinds = {"answer_start": whole(0, len(passage)), "text": TEXT}
    answers = tuple(
        Answer(*fields(found, f"an answer in {where}", **kinds).values())
        for found in asked["answers"]
    )
    for start, text in answers:
        if passage[start : start + len(text)] != text:
            raise InputError(
                f"the answer {shown(text)} is not at position {start} of its passage in {where}"
            )
    if not answers:
        raise InputError(f"the question {shown(asked['question'])} in {where} has no answer")
    return Question(asked["question"], passage, answers, title)

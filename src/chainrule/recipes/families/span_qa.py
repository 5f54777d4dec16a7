"""Extractive question answering: questions and passages as rows of tokens, answers as spans.

A long passage becomes overlapping windows. The score of a span is log p(start) + log p(end), where
[CLS] means that the window has no answer; the best span of all windows is the answer.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.data.datasets.squad import Question, token_span, tokenize
from chainrule.data.text.vocabulary import pad_sequences
from chainrule.data.text.wordpiece import WordPiece
from chainrule.models.attention.bert_question_answering import best_spans
from chainrule.recipes.families.bert import segments
from chainrule.training import outputs

OVERLAP = 32  # tokens that two windows share, at most half of one
AT_ONCE = 256  # windows whose spans are compared together


class Window(NamedTuple):
    """A question and part of its passage: tokens, their offsets, and the answer's positions."""

    question: int
    tokens: list[int]
    start: int
    offsets: list[tuple[int, int]]
    answer: tuple[int, int]


class Found(NamedTuple):
    """An answer and its probability p(start) p(end)."""

    text: str
    probability: float


class Paired(nn.Module):
    """A model of two texts, with the segments computed from the tokens."""

    def __init__(self, model: nn.Module, sep: int):
        super().__init__()
        self.model, self.sep = model, sep

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch steps 2"]:
        return self.model(tokens, segments(tokens, self.sep))


def windows(asked: Sequence[Question], pieces: WordPiece) -> list[Window]:
    """[CLS] question [SEP] part of the passage [SEP]; an answer that is not inside is at [CLS]."""
    found = []
    for number, question in enumerate(asked):
        tokens, kinds, offsets = pieces.encode_question(question.text, question.passage)
        second = kinds.index(1)
        head = [*tokens[: second - 1][: pieces.max_length // 2], pieces.sep]
        body, places = tokens[second:-1], offsets[second:-1]
        room = pieces.max_length - len(head) - 1
        overlap = min(OVERLAP, room // 2)
        first, last = token_span(places, question.answers[0]) if question.answers else (-1, -1)
        for start in range(0, max(1, len(body) - overlap), room - overlap):
            part, end = slice(start, start + room), min(start + room, len(body))
            shift = len(head) - start
            inside = start <= first and last < end
            answer = (first + shift, last + shift) if inside else (0, 0)
            row = [*head, *body[part], pieces.sep]
            found.append(Window(number, row, len(head), places[part], answer))
    return found


def rows(found: Sequence[Window], length: int) -> Int[Tensor, "n length"]:
    return pad_sequences([window.tokens for window in found], length)


def inside(found: Sequence[Window], length: int) -> Bool[Tensor, "n length"]:
    """True at the tokens of the passage."""
    mask = torch.zeros(len(found), length, dtype=torch.bool)
    for row, window in enumerate(found):
        mask[row, window.start : window.start + len(window.offsets)] = True
    return mask


def answered(
    output: Float[Tensor, "n length 2"],
    found: Sequence[Window],
    asked: Sequence[Question],
    longest: int,
) -> list[Found]:
    """The best legal span of each question's windows."""
    log_p, passage = output.log_softmax(1), inside(found, output.shape[1])
    best: dict[int, tuple[float, str]] = {}
    for begin in range(0, len(found), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        spans = (t.tolist() for t in best_spans(log_p[part], passage[part], longest))
        for window, first, last, score in zip(found[part], *spans, strict=True):
            if window.question not in best or score > best[window.question][0]:
                start = window.offsets[first - window.start][0]
                end = window.offsets[last - window.start][1]
                best[window.question] = (
                    score,
                    whole_words(asked[window.question].passage, start, end),
                )
    chosen = (best[number] for number in range(len(asked)))
    return [Found(text, torch.tensor(score).exp().item()) for score, text in chosen]


def whole_words(passage: str, start: int, end: int) -> str:
    """The span extended to whole words."""
    while start > 0 and passage[start - 1 : start + 1].isalnum():
        start -= 1
    while end < len(passage) and passage[end - 1 : end + 1].isalnum():
        end += 1
    return passage[start:end]


def ask(
    reader: nn.Module, asked: Sequence[Question], pieces: WordPiece, longest: int
) -> list[Found]:
    """The model's answers."""
    found = windows(asked, pieces)
    output = outputs(reader, (rows(found, pieces.max_length),)).float()
    return answered(output, found, asked, longest)


def commonest_span(asked: Sequence[Question]) -> tuple[int, int]:
    """The most frequent indices of an answer's first and last word."""
    places = (
        token_span([place for _, place in tokenize(question.passage)], question.answers[0])
        for question in asked
    )
    return Counter(places).most_common(1)[0][0]


def always(span: tuple[int, int], asked: Sequence[Question]) -> list[str]:
    """These words of every passage, regardless of the question."""
    found = []
    for question in asked:
        places = [place for _, place in tokenize(question.passage)]
        first, last = (min(place, len(places) - 1) for place in span)
        found.append(question.passage[places[first][0] : places[last][1]])
    return found

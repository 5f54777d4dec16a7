"""Shared by the taggers: loss and accuracy by word, and what a tagger is compared with.

x holds tokens, y at each token the tag of the word that begins there, and 0 elsewhere. Outputs have
a logit for each tag at every token; the first, of no tag, is ignored.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.data.splits import Splits
from chainrule.data.text.vocabulary import pad_sequences
from chainrule.data.text.wordpiece import WordPiece
from chainrule.learning.metrics import ACCURACY
from chainrule.learning.tasks import Task
from chainrule.runs.recipe import Metrics, Predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_TAG = "<pad>"
"""The first class of every tagger."""


def piece_rows(
    words: Sequence[Sequence[str]], tags: Sequence[Sequence[int]], pieces: WordPiece
) -> tuple[Int[Tensor, "n length"], Int[Tensor, "n length"]]:
    """(x, y): rows of pieces, a word's tag at its first piece; long sentences become several rows.

    words: of each sentence.
    tags: of each word.
    pieces: the vocabulary; its `max_length` is the length of a row.
    """
    rows: list[list[int]] = []
    marks: list[list[int]] = []
    room = pieces.max_length - 2
    for sentence, labels in zip(words, tags, strict=True):
        row: list[int] = []
        mark: list[int] = []
        for found, tag in zip(pieces.encode_batch(sentence), labels, strict=True):
            word = (found or [pieces.unk])[:room]
            if len(row) + len(word) > room:
                rows.append(row)
                marks.append(mark)
                row, mark = [], []
            row += word
            mark += [tag] + [0] * (len(word) - 1)
        rows.append(row)
        marks.append(mark)
    x = pad_sequences([[pieces.cls, *row, pieces.sep] for row in rows], pieces.max_length)
    return x, pad_sequences([[0, *mark] for mark in marks], pieces.max_length)


def tagged(output: Float[Tensor, "n steps tags"]) -> Int[Tensor, "n steps"]:
    """The likeliest tag at every place; 0 is none."""
    return output[:, :, 1:].argmax(2) + 1


def surprise(
    output: Float[Tensor, "n steps tags"], y: Int[Tensor, "n steps"]
) -> Float[Tensor, " n"]:
    """Σ -log softmax(f)_y over a row's words."""
    losses = F.cross_entropy(output[:, :, 1:].mT, (y - 1).clamp_min(0), reduction="none")
    return losses.masked_fill(y == 0, 0.0).sum(1)


def per_word(
    output: Float[Tensor, "n steps tags"], y: Int[Tensor, "n steps"]
) -> Float[Tensor, " n"]:
    """The mean over rows is the mean over all their words."""
    return surprise(output, y) / (y > 0).sum(1).double().mean().item()


def accuracy(output: Float[Tensor, "n steps tags"], y: Int[Tensor, "n steps"]) -> float:
    """Share of the words with the right tag."""
    return (tagged(output) == y)[y > 0].double().mean().item()


TAGGING = Task("tagging", per_word, (ACCURACY.computed_by(accuracy),))


def tagging_task(data: Splits) -> Task:
    """A batch counts by its words, of which batches of short sentences have few."""
    mean = (data.train.y > 0).sum(1).double().mean().item()
    return replace(TAGGING, training_loss=lambda output, y: surprise(output, y) / mean)


def commonest(data: Splits, vocab_size: int) -> Metrics:
    """The tag that a token has most often in training; the commonest of all for one never seen."""
    seen: dict[int, Counter[int]] = {}
    words = data.train.y > 0
    for token, tag in zip(data.train.x[words].tolist(), data.train.y[words].tolist(), strict=True):
        seen.setdefault(token, Counter())[tag] += 1
    table = torch.full((vocab_size,), int(data.train.y[words].bincount().argmax()))
    for token, tags in seen.items():
        table[token] = tags.most_common(1)[0][0]
    x, y = data.test
    return {"test": {"accuracy": (table[x] == y)[y > 0].double().mean().item()}}


def confusion_figure(predictions: Predictions) -> "Figure":
    """Which tags are taken for which on the test split."""
    from chainrule.plots.predictions import confusion_matrix
    from chainrule.runs.pictures import counts

    y, classes = predictions.data.test.y, predictions.data.classes
    found = tagged(predictions.outputs("test"))[y > 0]
    table = counts(y[y > 0] - 1, found - 1, len(classes) - 1)
    wrong = f"test: {int((found != y[y > 0]).sum())} of {len(found)} words wrong"
    return confusion_matrix(table, classes[1:], wrong)


def phrases(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """(first, last, kind) of each phrase B-X I-X … I-X; an I-X that continues none begins one."""
    found: set[tuple[int, int, str]] = set()
    start, kind = -1, ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, name = tag.partition("-")
        if start >= 0 and (mark, name) != ("I", kind):
            found.add((start, place - 1, kind))
            start = -1
        if start < 0 and mark in ("B", "I"):
            start, kind = place, name
    return found


def marks_phrases(classes: Sequence[str]) -> bool:
    """Whether all tags are O, B-… and I-…"""
    return {tag[:2] for tag in classes[1:]} <= {"O", "B-", "I-"} and len(classes) > 2


def phrase_metrics(predictions: Predictions) -> dict[str, float]:
    """F1 of whole phrases of the test split: 2 · right / (predicted + real)."""
    data, output = predictions.data, predictions.outputs("test")
    true = wanted = found = 0
    for y, guess in zip(data.test.y, tagged(output), strict=True):
        words = y > 0
        real = phrases([data.classes[k] for k in y[words].tolist()])
        made = phrases([data.classes[k] for k in guess[words].tolist()])
        true, wanted, found = true + len(real & made), wanted + len(real), found + len(made)
    return {"f1": 2 * true / max(found + wanted, 1)}


def report(predictions: Predictions) -> str:
    """Precision, recall, F1 and number of words of every tag of the test split."""
    from sklearn.metrics import classification_report

    y, classes = predictions.data.test.y, predictions.data.classes
    found = tagged(predictions.outputs("test"))[y > 0]
    return classification_report(
        y[y > 0].numpy(),
        found.numpy(),
        labels=range(1, len(classes)),
        target_names=classes[1:],
        digits=4,
        zero_division=0.0,
    ).rstrip()

"""Part-of-speech tagging by BERT.

    chainrule train bert-pretrain --out runs/bert
    chainrule train ewt-bert --from runs/bert --out runs/tags
    chainrule predict runs/tags "They refuse to permit us to obtain the refuse permit."

The 17 universal tags of UD English EWT, each predicted from the first piece of its word. Sentences
longer than the network's input are split, so that every word is tagged. With --from, the same
network is also trained from random weights, for comparison.
Devlin, Chang, Lee and Toutanova (2019). Notes: J 6.5 (part-of-speech tagging).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.data.datasets import ewt
from chainrule.data.datasets.ewt import Sentence
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import pad_sequences
from chainrule.data.text.wordpiece import WordPiece
from chainrule.errors import InputError
from chainrule.learning.metrics import ACCURACY
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert_tagger import BertTagger
from chainrule.recipes.families.bert import attention_figure, wordpiece_of
from chainrule.recipes.families.fine_tuning import SEVERAL_LABELS, FineTuningRecipe
from chainrule.runs.recipe import DataSummary, Metrics, Predictions
from chainrule.training import Settings, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = "They refuse to permit us to obtain the refuse permit ."


@dataclass(frozen=True, kw_only=True)
class Recipe(FineTuningRecipe):
    """Pieces of words → BERT → a tag where a word begins."""

    reference: ClassVar[str] = "J 6.5"
    unsupported: ClassVar[Mapping[str, str]] = SEVERAL_LABELS

    settings: Settings = replace(FineTuningRecipe.settings, epochs=8, batch_size=32)

    def data(self, folder: Path | None) -> Splits:
        parts = ewt.sentences(folder)
        pieces = self.vocabulary(sentence.text for sentence in parts["train"])
        train, validation, test = (split(part, pieces) for part in parts.values())
        return Splits(train, validation, test, ewt.TAGS, pieces)

    def task(self, data: Splits) -> Task:
        """A batch counts by its words, of which batches of short sentences have few."""
        mean = (data.train.y > 0).sum(1).double().mean().item()
        return replace(TAGGING, training_loss=lambda output, y: surprise(output, y) / mean)

    def model(self, summary: DataSummary) -> nn.Module:
        return BertTagger(self.bert(summary.vocab_size, self.dropout), summary.outputs)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        """Also each first piece's commonest tag, wherever it stands."""
        return super().baselines(data) | {"the commonest tag of a piece": commonest(data)}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.predictions import confusion_matrix
        from chainrule.runs.pictures import counts

        model, data = predictions.model, predictions.data
        assert isinstance(model, BertTagger)
        y = data.test.y
        found = tagged(predictions.outputs("test"))[y > 0]
        table = counts(y[y > 0] - 1, found - 1, len(ewt.TAGS) - 1)
        wrong = f"test: {int((found != y[y > 0]).sum())} of {len(found)} words wrong"
        return {
            "confusion": confusion_matrix(table, ewt.TAGS[1:], wrong),
            "attention": attention_figure(model.bert, wordpiece_of(data), [SHOWN]),
        }

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """A row for each word."""
        rows, pieces = [], summary.encoder
        assert isinstance(pieces, WordPiece)
        for number, text in enumerate(texts, 1):
            words = ewt.tokenize(text)
            if not words:
                raise InputError(f"expected words, got {text!r}")
            x, y = split([Sentence(words, [1] * len(words), text, 1)], pieces)
            logits = outputs(self.network_for(model), (x,))[y > 0][:, 1:]
            for word, p in zip(words, logits.softmax(1), strict=True):
                named = dict(zip(ewt.TAGS[1:], p.tolist(), strict=True))
                best = max(named, key=named.__getitem__)
                row = {"prediction": best, "probability": named[best], "probabilities": named}
                rows.append({"sentence": number, "word": word} | row)
        return rows


def split(part: Sequence[Sentence], pieces: WordPiece) -> Split:
    """Rows of pieces; y has a word's tag at its first piece, else 0."""
    rows: list[list[int]] = []
    tags: list[list[int]] = []
    room = pieces.max_length - 2
    for sentence in part:
        row: list[int] = []
        marks: list[int] = []
        for found, tag in zip(pieces.encode_batch(sentence.words), sentence.tags, strict=True):
            word = (found or [pieces.unk])[:room]
            if len(row) + len(word) > room:
                rows.append(row)
                tags.append(marks)
                row, marks = [], []
            row += word
            marks += [tag] + [0] * (len(word) - 1)
        rows.append(row)
        tags.append(marks)
    x = pad_sequences([[pieces.cls, *row, pieces.sep] for row in rows], pieces.max_length)
    return Split(x, pad_sequences([[0, *marks] for marks in tags], pieces.max_length))


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


def commonest(data: Splits) -> Metrics:
    """The tag that a first piece has most often in training; NOUN for one never seen."""
    seen: dict[int, Counter[int]] = {}
    words = data.train.y > 0
    for piece, tag in zip(data.train.x[words].tolist(), data.train.y[words].tolist(), strict=True):
        seen.setdefault(piece, Counter())[tag] += 1
    table = torch.full((len(wordpiece_of(data)),), ewt.TAGS.index("NOUN"))
    for piece, tags in seen.items():
        table[piece] = tags.most_common(1)[0][0]
    x, y = data.test
    return {"test": {"accuracy": (table[x] == y)[y > 0].double().mean().item()}}

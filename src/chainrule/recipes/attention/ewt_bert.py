"""Part-of-speech tagging by BERT.

    chainrule train bert-pretrain --out runs/bert
    chainrule train ewt-bert --from runs/bert --out runs/tags
    chainrule predict runs/tags "They refuse to permit us to obtain the refuse permit."

The 17 universal tags of UD English EWT, each predicted from the first piece of its word. Sentences
longer than the network's input are split, so that every word is tagged. With --from, the same
network is also trained from random weights, for comparison.
Devlin, Chang, Lee and Toutanova (2019). Notes: J 6.5 (part-of-speech tagging).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from torch import nn

from chainrule.data.datasets import ewt
from chainrule.data.datasets.ewt import Sentence
from chainrule.data.splits import Split, Splits
from chainrule.data.text.wordpiece import WordPiece
from chainrule.data.text.words import split_words
from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert_tagger import BertTagger
from chainrule.recipes.families.bert import attention_figure, wordpiece_of
from chainrule.recipes.families.fine_tuning import SEVERAL_LABELS, FineTuningRecipe
from chainrule.recipes.families.tagging import (
    commonest,
    confusion_figure,
    piece_rows,
    report,
    tagging_task,
)
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
        return tagging_task(data)

    def model(self, summary: DataSummary) -> nn.Module:
        return BertTagger(self.bert(summary.vocab_size, self.dropout), summary.outputs)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        """Also each first piece's commonest tag, wherever it stands."""
        return super().baselines(data) | {
            "the commonest tag of a piece": commonest(data, len(wordpiece_of(data)))
        }

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        model = predictions.model
        assert isinstance(model, BertTagger)
        pieces = wordpiece_of(predictions.data)
        return {
            "confusion": confusion_figure(predictions),
            "attention": attention_figure(model.bert, pieces, [SHOWN]),
        }

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return {"tags": report(predictions)}

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """A row for each word."""
        rows, pieces = [], summary.encoder
        assert isinstance(pieces, WordPiece)
        for number, text in enumerate(texts, 1):
            words = split_words(text)
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
    words, tags = [sentence.words for sentence in part], [sentence.tags for sentence in part]
    return Split(*piece_rows(words, tags, pieces))

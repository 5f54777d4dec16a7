"""Your own tagged sentences: a tag for every word.

    chainrule train tagger --conll train.conllu
    chainrule predict runs/tagger-1 "They refuse to permit us to obtain the refuse permit."

The file is CoNLL-U, or has a word and its tags in columns. Two networks: lstm, which reads the
words both ways; bert, which starts from a run of bert-pretrain or a folder of the Hugging Face hub
with --from, and from random weights without it.
Notes: J 5 (same-length prediction), J 6.5 (part-of-speech tagging).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from chainrule.data.readers.texts.conll import TaggedSentence, tagged_sentences
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import pad_sequences
from chainrule.data.text.wordpiece import WordPiece
from chainrule.data.text.words import WordEncoder, split_words, word_encoder
from chainrule.errors import InputError
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert_tagger import BertTagger
from chainrule.models.recurrent.word_tagger import WordTagger
from chainrule.recipes.families.fine_tuning import SEVERAL_LABELS, FineTuningRecipe
from chainrule.recipes.families.tagging import (
    NO_TAG,
    commonest,
    confusion_figure,
    marks_phrases,
    phrase_metrics,
    piece_rows,
    report,
    tagging_task,
)
from chainrule.runs.recipe import SPLITS, DataSummary, Metrics, Predictions
from chainrule.training import Settings, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(FineTuningRecipe):
    """Words, or pieces of words → a network that reads the whole sentence → a tag for each word."""

    reference: ClassVar[str] = "J 5, J 6.5"
    unsupported: ClassVar[Mapping[str, str]] = SEVERAL_LABELS
    data_fields: ClassVar[tuple[str, ...]] = (
        *FineTuningRecipe.data_fields,
        *("conll", "test_conll", "column", "model_name"),
    )

    conll: str
    """CoNLL-U file, or one with a word and its tags in columns; may be gzipped."""
    test_conll: str = ""
    """File of the test split; without it a fifth of the sentences is held out."""
    column: str = ""
    """Column of the tag: a name such as xpos, or a number from 1; by default upos, or the last."""
    model_name: Literal["lstm", "bert"] = "lstm"
    """The network."""
    embedding_dim: int = 100
    """Size of a word's embedding, for lstm."""
    lstm_size: int = 100
    """Hidden units of lstm in each direction."""
    dropout: float = 0.4
    """Dropout rate of the network."""
    settings: Settings = replace(
        FineTuningRecipe.settings,
        epochs=8,
        batch_size=32,
        learning_rate=3e-3,
        schedule="one-cycle",
        patience=3,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("conll", "test_conll"):  # the run must find them from any folder
            if getattr(self, name):
                object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))
        for name in ("embedding_dim", "lstm_size", "vocab_size"):
            if getattr(self, name) < 1:
                raise InputError(f"`{name}` must be at least 1, got {getattr(self, name)}")
        if self.from_run and self.model_name != "bert":
            raise InputError(f"`from_run` is for the model bert, not for {self.model_name}")

    def data(self, folder: Path | None) -> Splits:
        found = tagged_sentences(self.conll, self.column, self.seed, self.test_conll or None)
        classes = (NO_TAG, *found.tags)
        words = [sentence.words for sentence in found.splits["train"]]
        encoder: WordPiece | WordEncoder
        if self.model_name == "bert":
            encoder = self.vocabulary(" ".join(sentence) for sentence in words)
        else:
            encoder = word_encoder(words)
        train, validation, test = (encoded(found.splits[name], classes, encoder) for name in SPLITS)
        return Splits(train, validation, test, classes, encoder, found.remarks)

    def summarize(self, data: Splits) -> DataSummary:
        encoder = data.encoder
        if isinstance(encoder, WordPiece):
            return super().summarize(data)
        assert isinstance(encoder, WordEncoder)
        return DataSummary(
            classes=data.classes,
            vocab_sizes=(len(encoder.vocabulary),),
            examples={name: len(getattr(data, name).x) for name in SPLITS},
            remarks=data.remarks,
            encoder=encoder,
        )

    def task(self, data: Splits) -> Task:
        return tagging_task(data)

    def model(self, summary: DataSummary) -> nn.Module:
        words, tags = summary.vocab_size, summary.outputs
        if self.model_name == "bert":
            return BertTagger(self.bert(words, self.dropout), tags)
        return WordTagger(words, tags, "lstm", self.embedding_dim, self.lstm_size, self.dropout)

    def baselines(self, data: Splits) -> dict[str, Metrics]:
        """Also each word's commonest tag, wherever it stands."""
        size = self.summarize(data).vocab_size
        what = "piece" if self.model_name == "bert" else "word"
        return super().baselines(data) | {f"the commonest tag of a {what}": commonest(data, size)}

    def breakdown(self, predictions: Predictions) -> dict[str, Metrics]:
        """Whole phrases, where the tags mark them."""
        if not marks_phrases(predictions.data.classes):
            return {}
        return {"whole phrases": {"test": phrase_metrics(predictions)}}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return {"confusion": confusion_figure(predictions)}

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return {"tags": report(predictions)}

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """A row for each word."""
        rows, tags = [], summary.classes
        for number, text in enumerate(texts, 1):
            words = split_words(text)
            if not words:
                raise InputError(f"expected words, got {text!r}")
            sentence = TaggedSentence(tuple(words), (tags[1],) * len(words))
            x, y = encoded([sentence], tags, summary.encoder)
            logits = outputs(self.network_for(model), (x,)).float()[y > 0][:, 1:]
            for word, p in zip(words, logits.softmax(1), strict=True):
                named = dict(zip(tags[1:], p.tolist(), strict=True))
                best = max(named, key=named.__getitem__)
                row = {"prediction": best, "probability": named[best], "probabilities": named}
                rows.append({"sentence": number, "word": word} | row)
        return rows


def encoded(part: Sequence[TaggedSentence], classes: Sequence[str], encoder: Any) -> Split:
    """Rows of words, or of pieces, and the tag of each word where it begins."""
    index = {tag: number for number, tag in enumerate(classes)}
    tags = [[index[tag] for tag in sentence.tags] for sentence in part]
    words = [sentence.words for sentence in part]
    if isinstance(encoder, WordPiece):
        return Split(*piece_rows(words, tags, encoder))
    x: Tensor = encoder.encode_words(words)
    y: Tensor = pad_sequences(tags)
    assert torch.equal(x > 0, y > 0)
    return Split(x, y)

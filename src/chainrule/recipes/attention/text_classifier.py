"""Your own labeled texts: a class for each text of a table.

    chainrule train text-classifier --table reviews.csv --text text --target label
    chainrule predict runs/text-classifier-1 "a quiet film, and a wonderful one"

Three networks: bag, which sees only which words occur; lstm, which reads the last words in order;
bert, which starts from a run of bert-pretrain with --from, and from random weights without it.
Notes: L "When to Use Deep Learning" (IMDB), J 6.5 (sentiment classification).
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from torch import nn

from chainrule.data.readers.texts.labeled_text import labeled_texts
from chainrule.data.splits import Split, Splits
from chainrule.data.text.encoders import BagEncoder, SentenceEncoder, TokenEncoder
from chainrule.data.text.vocabulary import tokenize, word_vocabulary
from chainrule.errors import InputError
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.models.feedforward.bag_of_words import BagOfWords
from chainrule.models.recurrent.text_classifier import TextClassifier
from chainrule.recipes.families.class_reports import (
    calibration_figure,
    check_threshold,
    chosen_decision,
    class_report,
    threshold_of,
    with_class_metrics,
)
from chainrule.recipes.families.few_updates import with_note_on_updates
from chainrule.recipes.families.fine_tuning import FineTuningRecipe
from chainrule.runs.recipe import SPLITS, DataSummary, Metrics, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(FineTuningRecipe):
    """A text → words, or pieces of words → a network → its class."""

    reference: ClassVar[str] = "L 'When to Use Deep Learning', J 6.5"
    data_fields: ClassVar[tuple[str, ...]] = (
        *FineTuningRecipe.data_fields,
        *("table", "text", "target", "test_table", "model_name", "max_words"),
    )

    table: str
    """CSV file with a header."""
    text: str
    """The column of texts."""
    target: str
    """The column of classes."""
    test_table: str = ""
    """CSV file of the test split; without it a fifth of the rows is held out."""
    model_name: Literal["bag", "lstm", "bert"] = "bag"
    """The network."""
    max_words: int = 400
    """Words that lstm reads, from the end of a text; bert reads `max_length` pieces."""
    embedding_dim: int = 64
    """Size of a word's embedding, for lstm."""
    lstm_size: int = 64
    """Hidden units of lstm."""
    hidden: tuple[int, ...] = (16,)
    """Widths of the hidden layers of bag."""
    vocab_size: int = 10_000
    """Most frequent words, or pieces of words, that are known."""
    dropout: float = 0.3
    """Dropout rate of the network."""
    threshold: Literal["half", "f1", "balanced"] = "half"
    """How `predict` decides between two classes: for the more probable one, or at the probability
    with the largest F1 or balanced accuracy on the validation split."""
    settings: Settings = replace(
        FineTuningRecipe.settings,
        epochs=5,
        batch_size=64,
        learning_rate=2e-3,
        schedule="one-cycle",
        patience=3,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("table", "test_table"):  # the run must find them from any folder
            if getattr(self, name):
                object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))
        for name in ("max_words", "embedding_dim", "lstm_size", "vocab_size"):
            if getattr(self, name) < 1:
                raise InputError(f"`{name}` must be at least 1, got {getattr(self, name)}")
        if self.from_run and self.model_name != "bert":
            raise InputError(f"`from_run` is for the model bert, not for {self.model_name}")

    def data(self, folder: Path | None) -> Splits:
        found = labeled_texts(
            self.table, self.text, self.target, self.seed, self.test_table or None
        )
        encoder = self.encoder(found.texts["train"])
        train, validation, test = (
            Split(encoder.encode_texts(found.texts[name]), found.labels[name]) for name in SPLITS
        )
        return Splits(train, validation, test, found.classes, encoder, found.remarks)

    def encoder(self, texts: list[str]) -> SentenceEncoder:
        """Words or pieces of the training texts as numbers."""
        if self.model_name == "bert":
            return self.vocabulary(texts)
        words = [tokenize(text) for text in texts]
        vocabulary = word_vocabulary(words, self.vocab_size)
        if self.model_name == "lstm":
            return TokenEncoder(vocabulary, self.max_words)
        return BagEncoder(vocabulary, max(len(set(row)) for row in words))

    def summarize(self, data: Splits) -> DataSummary:
        check_threshold(self.threshold, data.classes)
        encoder = data.encoder
        if not isinstance(encoder, BagEncoder | TokenEncoder):
            return with_note_on_updates(super().summarize(data), self.settings)
        found = DataSummary(
            classes=data.classes,
            vocab_sizes=(len(encoder.vocabulary),),
            examples={name: len(getattr(data, name).x) for name in SPLITS},
            remarks=data.remarks,
            encoder=encoder,
        )
        return with_note_on_updates(found, self.settings)

    def model(self, summary: DataSummary) -> nn.Module:
        words, classes = summary.vocab_size, summary.outputs
        if self.model_name == "bag":
            return BagOfWords(words, self.hidden, classes, self.dropout)
        if self.model_name == "lstm":
            sizes = self.embedding_dim, self.lstm_size
            return TextClassifier(words, classes, "lstm", *sizes, self.dropout)
        return BertClassifier(self.bert(words, self.dropout), classes)

    def network_for(self, model: nn.Module) -> nn.Module:
        return super().network_for(model) if self.model_name == "bert" else model

    def decision(self, predictions: Predictions) -> dict[str, Any]:
        return chosen_decision(predictions, self.threshold)

    def evaluate(self, predictions: Predictions) -> Metrics:
        chosen = threshold_of(predictions, self.threshold)
        return with_class_metrics(predictions, super().evaluate(predictions), chosen)

    def texts(self, predictions: Predictions) -> dict[str, str]:
        chosen = threshold_of(predictions, self.threshold)
        return super().texts(predictions) | class_report(predictions, chosen)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return super().figures(predictions) | {"calibration": calibration_figure(predictions)}

"""BERT pre-trained on plain text: masked words and next-sentence prediction.

    chainrule train bert-pretrain --out runs/bert
    chainrule predict runs/bert "the [MASK] ran"

A small BERT on the reviews of IMDB, the web pages of EWT and the articles of SQuAD, training parts
only, or on your own text files: --text my.txt. `imdb-bert`, `ewt-bert` and `squad-bert` fine-tune
it. 15 % of the words are masked, different ones in every epoch. Most pairs are short, as in the
paper, where nine steps in ten use 128 of 512 tokens.

Three additions to the paper make half an hour of training worthwhile. The heads of the first block
start by attending to the neighboring words, which would take thousands of steps to learn. A quarter
of every embedding is fixed by the documents that the word appears in (`latent_semantics`). And
[CLS], which masked words teach little, predicts the words of the text (`bag_of_words`), with twice
the weight of the other tasks. --latent 0 and --gist 0 switch the last two off.
Devlin, Chang, Lee and Toutanova (2019); Liu et al. (2019) for dynamic masking; Ma et al. (2024) for
the bag of words. Notes: J 6.5.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.data.splits import TEST_SEED, Split, Splits, stratified_indices
from chainrule.data.text.documents import CORPORA, Document, documents
from chainrule.data.text.wordpiece import SPECIAL, WordPiece, train_wordpiece
from chainrule.errors import InputError
from chainrule.learning.bag_of_words import bag_of_words, rarity
from chainrule.learning.latent_semantics import latent_semantics
from chainrule.learning.masking import pack_pairs, sentence_pairs
from chainrule.learning.tasks import Task
from chainrule.models.attention.bert_pretraining import BertPretraining
from chainrule.recipes.families.bert import (
    AT_ONCE,
    BertSizes,
    attention_figure,
    lengths,
    wordpiece_of,
)
from chainrule.recipes.families.masked_lm import MaskedLM, masked_lm_task
from chainrule.runs.blanks import fill, filled
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings, evaluate
from chainrule.training.sources import BucketedSequences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tokens = list[list[int]]  # of a document, by sentence
HELD = 50  # one document in so many is for validation, and another for the test
MARKS = 3  # [CLS] and twice [SEP]
LONG = 3  # one training document in so many is read at full length
LOUD = 4.0  # how many times as large as the others are the entries that tell documents
BLANKS = (
    "the film was long , but the [MASK] was good .",
    "the [MASK] ran",
    "this is one of the [MASK] movies i have ever seen .",
    "she [MASK] to the city with her mother and her [MASK] .",
    "the war began in the year [MASK] .",
)


@dataclass(frozen=True, repr=False, kw_only=True)
class Corpus(Splits):
    """Pairs of texts, and a vector for every word from the documents it appears in."""

    meanings: Float[Tensor, "symbols some"]


@dataclass(frozen=True, kw_only=True)
class Recipe(BertSizes, BaseRecipe):
    """Plain text → what is hidden in it."""

    reference: ClassVar[str] = "J 6.5"
    example_text: ClassVar[str] = "a quiet [MASK] with a wonderful ending"

    data_fields: ClassVar[tuple[str, ...]] = (
        "text",
        "vocab_size",
        "short",
        "latent",
        "max_length",
        "hidden_size",
    )
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher", "class_weights", "label_smoothing"),
        "pre-training has one label per hidden word",
    )

    text: tuple[str, ...] = ("imdb", "ewt", "squad")
    """Data sets, or your own text files with an empty line between two documents."""
    vocab_size: int = 8000
    """Size of the vocabulary learned from the texts."""
    short: int = 48
    """Length of most training pairs in tokens; short texts teach attention sooner."""
    latent: float = 0.25
    """Share of each embedding that is fixed by latent semantic analysis; 0: none."""
    gist: float = 2.0
    """Weight of the bag-of-words task at [CLS]; 0: the paper's two tasks alone."""
    dropout: float = 0.0
    """Dropout rate of the network; so few epochs hardly overfit."""
    settings: Settings = Settings(
        epochs=2,
        batch_size=32,
        optimizer="adamw",
        learning_rate=1e-3,
        schedule="warm-up-cosine",
        weight_decay=0.01,
        clip_norm=1.0,
    )

    def __post_init__(self) -> None:
        self.check_sizes()
        if self.short < 8:
            raise InputError(f"`short` must be at least 8, got {self.short}")
        if not 0 <= self.gist < math.inf:
            raise InputError(f"`gist` must be a number from 0 on, got {self.gist}")
        if not 0 <= self.latent <= 1:
            raise InputError(f"`latent` must be a share from 0 to 1, got {self.latent}")
        if not self.text:
            raise InputError("`text` names nothing to learn from")
        # Files must be found again from any folder.
        names = (name if name in CORPORA else str(Path(name).resolve()) for name in self.text)
        object.__setattr__(self, "text", tuple(names))

    def data(self, folder: Path | None) -> Corpus:
        train, validation, test = parts(documents(self.text, folder), self.seed)
        known = (text for document in train + validation for text in document)  # for every seed
        pieces = train_wordpiece(known, self.vocab_size, self.max_length)
        read = encoded(train, pieces)
        return Corpus(
            train=self.pairs(read, pieces, self.seed, self.short),
            validation=self.pairs(encoded(validation, pieces), pieces, self.seed),
            test=self.pairs(encoded(test, pieces), pieces, TEST_SEED),
            classes=("follows", "does not"),
            encoder=pieces,
            meanings=self.meanings(read, len(pieces)),
        )

    def meanings(self, read: list[Tokens], symbols: int) -> Float[Tensor, "symbols some"]:
        """For a part of the width, or as much of it as so few documents can tell."""
        words = [[n for text in document for n in text if n >= len(SPECIAL)] for document in read]
        words = [document for document in words if document]
        some = min(max(1, round(self.latent * self.hidden_size)), len(words), symbols)
        return latent_semantics(words, symbols, some, self.seed)

    def pairs(self, tokens: list[Tokens], pieces: WordPiece, seed: int, short: int = 0) -> Split:
        """Rows [CLS] a [SEP] b [SEP], and whether b follows a; most may be `short`."""
        longest = self.max_length - MARKS
        if 0 < short < self.max_length and len(tokens) >= 2 * LONG:
            most = [document for k, document in enumerate(tokens) if k % LONG]
            found = sentence_pairs(most, short - MARKS, seed)
            found += sentence_pairs(tokens[::LONG], longest, seed)
        else:
            found = sentence_pairs(tokens, longest, seed)
        rows, _, labels = pack_pairs(found, longest, pieces.cls, pieces.sep)
        return Split(rows, labels)

    def summarize(self, data: Corpus) -> DataSummary:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        sizes = (len(wordpiece_of(data)),)
        return DataSummary(
            vocab_sizes=sizes, examples=examples, remarks=data.remarks, encoder=data.encoder
        )

    def model(self, summary: DataSummary) -> BertPretraining:
        return BertPretraining(self.bert(summary.vocab_size, self.dropout))

    def initialize(self, model: nn.Module, data: Corpus) -> None:
        assert isinstance(model, BertPretraining)
        model.bert.initialize_neighbor_heads()
        if self.latent:
            model.bert.fix_embeddings(LOUD * data.meanings)

    def task(self, data: Corpus) -> Task:
        return masked_lm_task(self.gist)

    def source(self, split: Split) -> BucketedSequences:
        return BucketedSequences(tuple(split), lengths=lengths(split.x))

    def network(self, model: nn.Module, data: Corpus) -> MaskedLM:
        """All tasks at once; the training texts say which words are rare."""
        assert isinstance(model, BertPretraining)
        pieces = wordpiece_of(data)
        return MaskedLM(model, pieces, rarity(data.train.x, len(pieces), len(SPECIAL)))

    def evaluate(self, predictions: Predictions) -> Metrics:
        """Of the training rows, as many as there are to validate."""
        data = predictions.data
        network, few = self.network(predictions.model, data), len(data.validation.x)
        splits = {name: tuple(getattr(data, name)) for name in SPLITS}
        splits["train"] = tuple(t[:few] for t in data.train)
        return {name: evaluate(network, part, self.task(data)) for name, part in splits.items()}

    def baselines(self, data: Corpus) -> dict[str, Metrics]:
        """What the frequency of words alone can do."""
        symbols = len(wordpiece_of(data))
        x, y, test = data.train.x, data.test.y.double(), data.test.x
        counts = x[x >= len(SPECIAL)].bincount(minlength=symbols).double() + 1
        log_p = (counts / counts.sum()).log()
        words = test[test >= len(SPECIAL)]
        weights = rarity(x, symbols, len(SPECIAL)).double()
        texts = [bag_of_words(log_p.expand(len(t), -1), t, weights) for t in test.split(AT_ONCE)]
        found = {
            "word_accuracy": (words == counts.argmax()).double().mean().item(),
            "perplexity": (-log_p[words].mean()).exp().item(),
            "pair_accuracy": max(y.mean().item(), 1 - y.mean().item()),
            "text_perplexity": torch.cat(texts).mean().exp().item(),
        }
        return {"the most frequent": {"test": found}}

    def texts(self, predictions: Predictions) -> dict[str, str]:
        """Some blanks and how the model fills them."""
        model, data = predictions.model, predictions.data
        assert isinstance(model, BertPretraining)
        pieces = wordpiece_of(data)
        fitting = [t for t in self.blanks(data) if len(pieces.encode(t)) + 2 <= self.max_length]
        return {"blanks": "\n\n".join(filled(t, fill(model, pieces, t)) for t in fitting)}

    def blanks(self, data: Corpus) -> Sequence[str]:
        """Sentences with a gap: our own for our own texts, those of the test for others."""
        if set(self.text) <= set(CORPORA):
            return BLANKS
        pieces = wordpiece_of(data)
        rows = [row[1 : row.index(pieces.sep)] for row in data.test.x[: len(BLANKS)].tolist()]
        return [
            pieces.decode([*r[: len(r) // 2], pieces.mask, *r[len(r) // 2 + 1 :]]) for r in rows
        ]

    def answer_texts(
        self, model: nn.Module, texts: Sequence[str], summary: DataSummary
    ) -> list[dict[str, Any]]:
        """Five words for every blank."""
        pieces = summary.encoder
        assert isinstance(model, BertPretraining) and isinstance(pieces, WordPiece)
        return [
            {"input": text, "blank": number, "prediction": word, "probability": p}
            for text in texts
            for number, guesses in enumerate(fill(model, pieces, text), 1)
            for word, p in guesses
        ]

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.attention import positional_encoding

        model, data = predictions.model, predictions.data
        assert isinstance(model, BertPretraining)
        positions = model.bert.positions.weight.numpy(force=True)
        return {
            "attention": attention_figure(model.bert, wordpiece_of(data), [self.blanks(data)[0]]),
            "positions": positional_encoding(positions, "learned positions"),
        }


def encoded(part: list[Document], pieces: WordPiece) -> list[Tokens]:
    """Documents of sentences of tokens."""
    numbers = iter(pieces.encode_batch([text for document in part for text in document]))
    return [[next(numbers) for _ in document] for document in part]


def parts(
    found: list[Document], seed: int
) -> tuple[list[Document], list[Document], list[Document]]:
    """(train, validation, test): whole documents; the seed moves validation only."""
    if len(found) < 3 * 2:
        raise InputError(
            f"expected six documents or more, two for each split, got {len(found)}; separate them "
            "by empty lines"
        )
    number = max(2, len(found) // HELD)
    rest, test = stratified_indices(torch.zeros(len(found), dtype=torch.long), number, TEST_SEED)
    train, validation = stratified_indices(torch.zeros(len(rest), dtype=torch.long), number, seed)
    groups = (rest[train], rest[validation], test)
    train_part, validation_part, test_part = (
        [found[k] for k in group.tolist()] for group in groups
    )
    return train_part, validation_part, test_part

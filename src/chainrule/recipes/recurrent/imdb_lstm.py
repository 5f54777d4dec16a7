"""IMDB reviews by an LSTM.

The last 400 words of a review, an embedding, an LSTM and the maximum of each unit over time;
reviews of similar length share a batch. Word order helps little here: `imdb-lasso`, which ignores
it, is slightly better, as in L; unlike there, `imdb-mlp` is worse. ISL 10.5. Notes: L "When to Use
Deep Learning" (IMDB).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import imdb
from chainrule.data.splits import Split, Splits
from chainrule.data.text.vocabulary import PADDING, SPECIAL
from chainrule.errors import InputError
from chainrule.models.recurrent.text_classifier import TextClassifier
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings
from chainrule.training.sources import BucketedSequences


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """400 words → embeddings → an LSTM → praise or not."""

    reference: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.5)"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.87, "ISL 10.5, after tuning"),
    )

    data_fields: ClassVar[tuple[str, ...]] = ("max_length",)
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher"), "its batches are bucketed by length"
    )

    cell: str = "lstm"
    """The recurrent layer: lstm, gru, elman, mingru, lru, …"""
    max_length: int = 400
    """Longest input in words; of longer reviews the end is read."""
    embedding_dim: int = 64
    """Size of a word's embedding."""
    hidden_size: int = 64
    """Hidden units of the layer."""
    dropout: float = 0.4
    """Dropout rate of the embeddings and of the outputs."""
    settings: Settings = Settings(
        epochs=6, batch_size=64, learning_rate=2e-3, schedule="one-cycle", clip_norm=1.0
    )

    def __post_init__(self) -> None:
        if self.max_length < 1:
            raise InputError(f"`max_length` must be at least 1, got {self.max_length}")

    def data(self, folder: Path | None) -> Splits:
        return imdb.load(folder, self.seed, self.max_length)

    def model(self, summary: DataSummary) -> nn.Module:
        words = imdb.WORDS + len(SPECIAL)
        return TextClassifier(
            words, summary.outputs, self.cell, self.embedding_dim, self.hidden_size, self.dropout
        )

    def source(self, split: Split) -> BucketedSequences:
        lengths = (split.x != PADDING).sum(1)
        return BucketedSequences(tuple(split), lengths=lengths)

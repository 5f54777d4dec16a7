"""IMDB reviews by BERT, fine-tuned on few labels.

    chainrule train bert-pretrain --out runs/bert
    chainrule train imdb-bert --from runs/bert

A review is read in up to eight windows of 128 tokens; the middle of a longer one is left out. By
default 1,000 reviews are labeled for training and as many for validation; the test set is all
25,000. With --from, the same network is also trained from random weights: 85.7 % test accuracy with
pre-training, 80.5 % without.
Devlin, Chang, Lee and Toutanova (2019). Notes: J 6.5 (sentiment classification).
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.datasets import imdb
from chainrule.data.splits import Split, Splits, stratified_indices
from chainrule.errors import InputError
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.recipes.families.bert import attention_figure, wordpiece_of
from chainrule.recipes.families.fine_tuning import FineTuningRecipe
from chainrule.runs.recipe import DataSummary, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 32  # windows, enough for the longest review
SHOWN = "the story is thin , but the actors make it worth seeing ."


@dataclass(frozen=True, kw_only=True)
class Recipe(FineTuningRecipe):
    """Windows of tokens → BERT → the mean vector of their [CLS] → praise or not."""

    reference: ClassVar[str] = "J 6.5"
    data_fields: ClassVar[tuple[str, ...]] = (
        *FineTuningRecipe.data_fields,
        "labeled",
        "windows",
    )

    labeled: int = 1000
    """Number of labeled training reviews."""
    windows: int = 8
    """Largest number of windows of `max_length` tokens per review."""
    settings: Settings = replace(
        FineTuningRecipe.settings, learning_rate=1e-4, epochs=12, patience=6, monitor="accuracy"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labeled < 2:
            raise InputError(f"`labeled` must be at least 2, got {self.labeled}")
        if not 1 <= self.windows <= MOST:
            raise InputError(f"`windows` must be from 1 to {MOST}, got {self.windows}")

    def data(self, folder: Path | None) -> Splits:
        train, test = (
            imdb.reviews(path, part)
            for path, part in zip(imdb.paths(folder), ("train", "test"), strict=True)
        )
        y = torch.tensor([label for _, label in train])
        rest, held = stratified_indices(y, imdb.REVIEWS // 5, self.seed)
        if self.labeled > len(rest):
            raise InputError(
                f"`labeled` must be at most {len(rest)}, the training reviews there are, got "
                f"{self.labeled}"
            )
        rest, held = (self.few(rows, y[rows]) for rows in (rest, held))
        pieces = self.vocabulary(without_markup(text) for text, _ in train)
        pieces = pieces.with_max_length(
            1 + self.windows * (self.max_length - 1)
        )  # one [CLS] for all

        def split(rows: list[imdb.Review]) -> Split:
            x = pieces.encode_texts([without_markup(text) for text, _ in rows])
            return Split(x, torch.tensor([label for _, label in rows]))

        known, checked = ([train[row] for row in rows.tolist()] for rows in (rest, held))
        return Splits(split(known), split(checked), split(test), imdb.CLASSES, pieces)

    def few(self, rows: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """As many of them as are labeled, both classes alike."""
        most = len(rows) - 2  # `stratified_indices` leaves one of each class
        return (
            rows if self.labeled > most else rows[stratified_indices(y, self.labeled, self.seed)[1]]
        )

    def model(self, summary: DataSummary) -> nn.Module:
        return BertClassifier(self.bert(summary.vocab_size, self.dropout), summary.outputs)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        model, data = predictions.model, predictions.data
        assert isinstance(model, BertClassifier)
        attention = attention_figure(model.bert, wordpiece_of(data), [SHOWN])
        return super().figures(predictions) | {"attention": attention}


def without_markup(text: str) -> str:
    """The text without the tags of line ends."""
    return text.replace("<br />", " ")

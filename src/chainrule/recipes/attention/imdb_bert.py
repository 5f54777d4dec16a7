"""Film reviews by BERT, from few labels.

    chainrule train bert-pretrain --out runs/bert
    chainrule train imdb-bert --from runs/bert

A review is read in up to eight windows of 128 tokens, a longer one without its middle. By default
1,000 reviews are labeled, as few more for validation; the test is all 25,000. With --from, the
same network from random weights is trained beside: 85.7 % of the test are right after pre-training,
80.5 % without.
Devlin, Chang, Lee and Toutanova (2019). Notes: J 6.5 (sentiment classification).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.datasets import imdb
from chainrule.data.splits import Split, Splits, stratified_indices
from chainrule.errors import InputError
from chainrule.models.attention.bert_classifier import BertClassifier
from chainrule.recipes.families.bert import ByLength, attention_picture, pieces_of
from chainrule.recipes.families.fine_tuning import FineTuned
from chainrule.runs.recipe import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 32  # windows, enough for the longest review
SHOWN = "the story is thin , but the actors make it worth seeing ."


@dataclass(frozen=True, kw_only=True)
class Recipe(FineTuned):
    """Windows of tokens → BERT → the mean vector of their [CLS] → praise or not."""

    notes: ClassVar[str] = "J 6.5"

    labeled: int = 1000
    """Training reviews whose labels are known."""
    windows: int = 8
    """Windows of `length` tokens in which a review is read, at most."""
    learning_rate: float = 1e-4
    epochs: int = 12
    patience: int = 6
    monitor: str = "accuracy"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labeled < 2:
            raise InputError(f"--labeled must be at least 2, got {self.labeled}")
        if not 1 <= self.windows <= MOST:
            raise InputError(f"--windows must be from 1 to {MOST}, got {self.windows}")

    def data(self, folder: Path | None) -> Splits:
        train, test = (
            imdb.reviews(path, part)
            for path, part in zip(imdb.paths(folder), ("train", "test"), strict=True)
        )
        y = torch.tensor([label for _, label in train])
        rest, held = stratified_indices(y, imdb.REVIEWS // 5, self.seed)
        if self.labeled > len(rest):
            raise InputError(
                f"--labeled must be at most {len(rest)}, the training reviews there are, got "
                f"{self.labeled}"
            )
        rest, held = (self.few(rows, y[rows]) for rows in (rest, held))
        pieces = self.vocabulary(spoken(text) for text, _ in train)
        pieces = pieces.with_max_length(1 + self.windows * (self.length - 1))  # one [CLS] for all

        def split(rows: list[imdb.Review]) -> Split:
            x = pieces.encode_texts([spoken(text) for text, _ in rows])
            return Split(x, torch.tensor([label for _, label in rows]))

        known, checked = ([train[row] for row in rows.tolist()] for rows in (rest, held))
        return Splits(split(known), split(checked), split(test), imdb.CLASSES, pieces)

    def few(self, rows: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """As many of them as are labeled, both classes alike."""
        most = len(rows) - 2  # `stratified_indices` leaves one of each class
        return (
            rows if self.labeled > most else rows[stratified_indices(y, self.labeled, self.seed)[1]]
        )

    def model(self, task: Task) -> nn.Module:
        (symbols,) = task.shape
        return BertClassifier(self.bert(symbols, self.dropout), task.outputs)

    def pictures(self, model: nn.Module, data: Splits) -> "dict[str, Figure]":
        assert isinstance(model, BertClassifier)
        drawn = super().pictures(ByLength(model), data)
        return drawn | {"attention": attention_picture(model.bert, pieces_of(data), [SHOWN])}


def spoken(text: str) -> str:
    """Without the marks of line ends."""
    return text.replace("<br />", " ")

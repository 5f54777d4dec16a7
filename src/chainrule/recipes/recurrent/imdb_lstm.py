"""Film reviews by an LSTM that reads the words in their order.

The last 400 words of a review, an embedding, an LSTM and the greatest output of each unit; reviews
of like length share a batch. A network that knows the order of the words is hardly better here than
`imdb-lasso`, which knows none. ISL 10.5. Notes: L "When to Use Deep Learning" (IMDB).
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import imdb
from chainrule.data.splits import Splits
from chainrule.data.text.vocabulary import PADDING, SPECIAL
from chainrule.errors import InputError
from chainrule.models.recurrent.text_classifier import TextClassifier
from chainrule.runs.recipe import Published, Task, Trained, arrays
from chainrule.training import Progress, fit


@dataclass(frozen=True, kw_only=True)
class Recipe(Trained):
    """400 words → embeddings → an LSTM → praise or not."""

    notes: ClassVar[str] = "L 'When to Use Deep Learning' (ISL 10.5)"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.87, "ISL 10.5, after tuning"),
    )

    cell: str = "lstm"
    """The recurrent layer: lstm, gru, elman, mingru, lru, …"""
    length: int = 400
    """Words of a review that are read, from its end."""
    embedding: int = 64
    """Numbers that stand for a word."""
    width: int = 64
    """Units of the layer."""
    dropout: float = 0.4
    """Share of embeddings and of outputs dropped in each step."""
    epochs: int = 6
    batch_size: int = 64
    learning_rate: float = 2e-3
    schedule: str = "one-cycle"
    clip: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length < 1:
            raise InputError(f"--length must be at least 1, got {self.length}")
        if self.members > 1 or self.teacher:
            raise InputError("--members and --teacher do not go with sequences; leave them out")

    def data(self, folder: Path | None) -> Splits:
        return imdb.load(folder, self.seed, self.length)

    def model(self, task: Task) -> nn.Module:
        words = imdb.WORDS + len(SPECIAL)
        return TextClassifier(
            words, task.outputs, self.cell, self.embedding, self.width, self.dropout
        )

    def learn(
        self, model: nn.Module, data: Splits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        lengths = (data.train.x != PADDING).sum(1)
        train, validation = arrays(data.train), arrays(data.validation)
        return fit(model, train, validation, self, self.objective(data), folder, device, lengths)

"""Shared by the GPT recipes: random windows of a text, and figures of the attention."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.learning.tasks import LANGUAGE_MODELING, Task
from chainrule.models.attention.gpt import GPT
from chainrule.nn.attention import attention_maps
from chainrule.recipes.families import language_model as lm
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings
from chainrule.training.sources import RandomWindows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 20  # characters of the test text whose attention is drawn
VISIBLE = str.maketrans({" ": "·", "\n": "↵", "\t": "⇥"})


@dataclass(frozen=True, kw_only=True)
class GPTRecipe(BaseRecipe):
    """The characters of a window → the next one, at every position of it."""

    unsupported: ClassVar[Mapping[str, str]] = lm.UNSUPPORTED

    context_length: int = 64
    """Characters of context, the most that a prediction can depend on."""
    epoch_steps: int = 250
    """Updates per epoch; the validation loss is measured after each epoch."""
    hidden_size: int = 128
    """Size of a character's hidden vector."""
    num_layers: int = 4
    """Number of transformer blocks."""
    num_heads: int = 4
    """Attention heads of each layer."""
    dropout: float = 0.0
    """Dropout rate of the embeddings and of every sublayer's outputs."""
    settings: Settings = Settings(
        batch_size=12,
        epochs=8,
        optimizer="adamw",
        schedule="warm-up-cosine",
        weight_decay=0.1,
        clip_norm=1.0,
        beta2=0.99,
    )

    def summarize(self, data: Splits) -> DataSummary:
        return lm.summarize(data)

    def model(self, summary: DataSummary) -> GPT:
        sizes = self.hidden_size, self.num_layers, self.num_heads
        return GPT(summary.vocab_size, self.context_length, *sizes, self.dropout)

    def task(self, data: Splits) -> Task:
        return LANGUAGE_MODELING

    def source(self, split: Split) -> RandomWindows:
        return RandomWindows(tuple(split), self.context_length, self.epoch_steps)

    def evaluate(self, predictions: Predictions) -> Metrics:
        return lm.losses(predictions)

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return lm.samples(predictions)

    def nats(self, model: GPT, x: Tensor, y: Tensor) -> Tensor:
        """-log p of the last characters, each given a full context."""
        windows = x.unfold(0, min(self.context_length, lm.BEFORE, len(x)), 1)[-lm.READ :]
        logits = torch.cat([model(part)[:, -1] for part in windows.split(64)])
        return F.cross_entropy(logits, y[-len(windows) :], reduction="none")

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.attention import positional_encoding, text_attention

        model = predictions.model
        x, text = lm.attention_text(predictions.data, min(SHOWN, self.context_length))
        maps = torch.cat(list(attention_maps(model, x[None]).values()))
        shown = [character.translate(VISIBLE) for character in text]
        return {
            "surprise": lm.surprise_figure(predictions, self.nats),
            "attention": text_attention(maps.numpy(), shown),
            "positions": positional_encoding(lm.positions_of(model), "learned positions"),
        }

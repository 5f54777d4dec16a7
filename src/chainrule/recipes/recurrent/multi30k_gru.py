"""German to English by a GRU encoder and decoder, without attention.

The source sentence reaches the decoder as a single vector. Compare `multi30k-bahdanau`, which adds
attention at the same width and number of epochs.
Sutskever, Vinyals and Le (2014); Cho et al. (2014). Notes: J 5.3.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import nn

from chainrule.models.recurrent.seq2seq import Seq2Seq
from chainrule.recipes.families.translation import TranslationRecipe
from chainrule.runs.recipe import DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(TranslationRecipe):
    """Words → a GRU → its last state → a GRU → words."""

    reference: ClassVar[str] = "J 5.3"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 20.6, "a tutorial with 512 units"),
    )

    cell: str = "gru"
    """The recurrent cell of encoder and decoder: gru, lstm, elman, mingru, lru, …"""

    embedding_dim: int = 256
    """Size of a word's embedding."""
    hidden_size: int = 256
    """Units of the recurrent layers."""
    dropout: float = 0.4
    """Dropout rate of embeddings and outputs."""
    settings: Settings = replace(
        TranslationRecipe.settings, epochs=12, learning_rate=2e-3, schedule="one-cycle"
    )

    def model(self, summary: DataSummary) -> nn.Module:
        source, target = summary.vocab_sizes
        return Seq2Seq(
            source, target, self.cell, self.embedding_dim, self.hidden_size, dropout=self.dropout
        )

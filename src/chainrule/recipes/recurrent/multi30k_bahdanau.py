"""German to English by GRUs with Bahdanau's attention.

Width and number of epochs are those of `multi30k-gru`, which has no attention. The run folder shows
the alignment of some test sentences and BLEU by sentence length.
Bahdanau, Cho and Bengio (2015). Notes: J 5.3.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.recipes.families.translation import TranslationRecipe, aligned
from chainrule.runs.recipe import DataSummary, Predictions, Published
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(TranslationRecipe):
    """Words → a GRU both ways → attention → a GRU → words."""

    reference: ClassVar[str] = "J 5.3"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 28.3, "a tutorial with 512 units"),
    )

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
        return Bahdanau(source, target, self.embedding_dim, self.hidden_size, self.dropout)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.translation import alignments

        model, data = predictions.model, predictions.data
        assert isinstance(model, Bahdanau)
        found = self.translations(predictions, "test")
        with torch.no_grad():
            drawn = aligned(data, found, lambda *pair: model.eval().alignment(*pair)[0])
        usual = super().figures(predictions)
        return usual | {"alignment": alignments(drawn)} if drawn else usual

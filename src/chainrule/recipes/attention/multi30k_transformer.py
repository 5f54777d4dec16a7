"""German to English by a transformer.

Three layers each in encoder and decoder, half as wide as the paper's base model, with its label
smoothing and warm-up; the layer normalization is applied before the sublayers. The run folder shows
the attention for some test sentences. Compare `multi30k-bahdanau` and `multi30k-gru`.
Vaswani et al. (2017), Attention is all you need. Notes: J 6.4, L "Complete Transformer
Architecture".
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.models.attention.transformer import Transformer
from chainrule.nn.attention import attention_maps
from chainrule.nn.positions import sinusoidal
from chainrule.recipes.families.translation import TranslationRecipe, aligned
from chainrule.runs.recipe import DataSummary, Predictions, Published
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = 40  # positions that are drawn


@dataclass(frozen=True, kw_only=True)
class Recipe(TranslationRecipe):
    """Words → 3 layers of 8 heads read → 3 layers write → words."""

    reference: ClassVar[str] = "J 6.4, L 'Complete Transformer Architecture'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 36.5, "a tutorial, on a GPU"),
    )

    hidden_size: int = 256
    """Size of a word's hidden vector."""
    num_layers: int = 3
    """Number of layers of the encoder and of the decoder."""
    num_heads: int = 8
    """Attention heads of each layer."""
    feedforward_size: int = 512
    """Hidden units of the feed-forward sublayers."""
    dropout: float = 0.2
    """Dropout rate of the embeddings and of every sublayer's outputs."""
    norm: str = "pre"
    """Layer normalization: pre, before each sublayer, or post, after each residual sum."""
    label_smoothing: float = 0.1
    settings: Settings = replace(
        TranslationRecipe.settings, epochs=13, learning_rate=1e-3, schedule="warm-up-cosine"
    )

    def model(self, summary: DataSummary) -> nn.Module:
        source, target = summary.vocab_sizes
        sizes = self.hidden_size, self.num_layers, self.num_heads, self.feedforward_size
        return Transformer(source, target, *sizes, self.dropout, self.norm)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        """Besides the usual one: what the last layer looks at, every head of one sentence."""
        from chainrule.plots.attention import positional_encoding, text_attention
        from chainrule.plots.translation import alignments

        model, data = predictions.model, predictions.data

        def heads(source: Tensor, previous: Tensor) -> Tensor:
            maps = attention_maps(model, source, previous)
            return torch.cat([A for name, A in maps.items() if name.endswith("cross_attention")])

        found = self.translations(predictions, "test")
        seen = aligned(data, found, lambda *pair: heads(*pair).movedim(2, 0))
        drawn = super().figures(predictions)
        waves = sinusoidal(PLACES, self.hidden_size).numpy()
        drawn["positions"] = positional_encoding(waves, "sinusoidal positions")
        if seen:
            last = [(german, english, A[:, -1].mean(1)) for german, english, A in seen]
            german, english, A = seen[0]
            drawn["alignment"] = alignments(last)
            drawn["heads"] = text_attention(np.moveaxis(A, 0, 2), english, german)
        return drawn

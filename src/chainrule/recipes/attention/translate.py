"""Your own sentence pairs: translation.

    chainrule train translate --pairs pairs.tsv
    chainrule predict runs/translate-1 "She is reading a book."

Each line has a sentence, a tab and its translation. Two networks: gru, recurrent networks with
Bahdanau's attention, and transformer. Translations are found by beam search; `--beam-size 1` takes
the likeliest word each time.
Notes: J 5.3, J 6.4 (machine translation), L "Complete Transformer Architecture".
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import Tensor, nn

from chainrule.data.datasets.multi30k import Captions
from chainrule.data.readers.texts.pairs import sentence_pairs
from chainrule.errors import InputError
from chainrule.learning.bleu import check_installed
from chainrule.models.attention.transformer import Transformer
from chainrule.models.recurrent.bahdanau import Bahdanau
from chainrule.nn.attention import attention_maps
from chainrule.recipes.families.translation import TranslationRecipe, aligned
from chainrule.runs.recipe import DataSummary, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(TranslationRecipe):
    """Words of a sentence → a network with attention → words of its translation."""

    reference: ClassVar[str] = "J 5.3, J 6.4"
    data_fields: ClassVar[tuple[str, ...]] = (
        *("pairs", "swap", "max_words", "max_pairs", "vocab_size"),
    )

    pairs: str
    """Text file with a sentence, a tab and its translation in each line; may be gzipped."""
    swap: bool = False
    """Translate from the second column to the first."""
    model_name: Literal["gru", "transformer"] = "gru"
    """The network."""
    max_words: int = 50
    """Pairs with a longer sentence are dropped."""
    max_pairs: int = 0
    """Pairs that are used, drawn at random; 0: all."""
    vocab_size: int = 10_000
    """Most frequent words of each language that are known."""
    embedding_dim: int = 256
    """Size of a word's embedding, for gru."""
    hidden_size: int = 256
    """Units of gru, and the size of a word's hidden vector in transformer."""
    num_layers: int = 3
    """Layers of the encoder and of the decoder of transformer."""
    num_heads: int = 8
    """Attention heads of each layer of transformer."""
    feedforward_size: int = 512
    """Hidden units of the feed-forward sublayers of transformer."""
    dropout: float = 0.3
    """Dropout rate of the network."""
    label_smoothing: float = 0.1
    settings: Settings = replace(
        TranslationRecipe.settings,
        epochs=12,
        learning_rate=1e-3,
        schedule="one-cycle",
        patience=3,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "pairs", str(Path(self.pairs).resolve()))
        for name, least in (("max_words", 1), ("max_pairs", 0), ("vocab_size", 1)):
            if getattr(self, name) < least:
                raise InputError(f"`{name}` must be at least {least}, got {getattr(self, name)}")

    def data(self, folder: Path | None) -> Captions:
        check_installed()
        sizes = self.vocab_size, self.swap, self.max_words, self.max_pairs
        return sentence_pairs(self.pairs, *sizes, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        source, target = summary.vocab_sizes
        if self.model_name == "gru":
            return Bahdanau(source, target, self.embedding_dim, self.hidden_size, self.dropout)
        sizes = self.hidden_size, self.num_layers, self.num_heads, self.feedforward_size
        return Transformer(source, target, *sizes, self.dropout, "pre")

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        """Also the alignment of some test sentences."""
        from chainrule.plots.translation import alignments

        model = predictions.model.eval()

        def weights(source: Tensor, previous: Tensor) -> Tensor:
            if isinstance(model, Bahdanau):
                return model.alignment(source, previous)[0]
            maps = attention_maps(model, source, previous)
            last = [A for name, A in maps.items() if name.endswith("cross_attention")][-1]
            return last[0].mean(0)

        found = self.translations(predictions, "test")
        with torch.no_grad():
            drawn = aligned(predictions.data, found, weights)
        usual = super().figures(predictions)
        return usual | {"alignment": alignments(drawn)} if drawn else usual

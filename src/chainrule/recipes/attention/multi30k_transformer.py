"""German to English by a transformer: attention alone reads, and attention alone writes.

Three layers each way, half as wide as the paper's base model, trained with its label smoothing and
a warm-up; norms stand before the sublayers. The run folder holds what each word of some test
sentences looked at. To be compared with `multi30k-bahdanau` and `multi30k-gru`.
Vaswani et al. (2017), Attention is all you need. Notes: J 6.4, L "Complete Transformer
Architecture".
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.data.datasets.multi30k import Captions
from chainrule.models.attention.transformer import Transformer
from chainrule.nn.attention import attention_maps
from chainrule.nn.positions import sinusoidal
from chainrule.recipes.families.translation import Translating, aligned
from chainrule.runs.recipe import Published, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLACES = 40  # positions that are drawn


@dataclass(frozen=True, kw_only=True)
class Recipe(Translating):
    """Words → 3 layers of 8 heads read → 3 layers write → words."""

    notes: ClassVar[str] = "J 6.4, L 'Complete Transformer Architecture'"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test bleu", 36.5, "a tutorial, on a GPU"),
    )

    width: int = 256
    """Numbers that stand for a word in every layer."""
    depth: int = 3
    """Layers of the encoder, and of the decoder."""
    heads: int = 8
    """Heads of each attention."""
    hidden: int = 512
    """Units of the small network in each layer."""
    dropout: float = 0.2
    """Share of the embeddings and of every sublayer's outputs dropped in each step."""
    norm: str = "pre"
    """Where the norms stand: pre, before each sublayer, or post, behind each sum."""
    label_smoothing: float = 0.1
    epochs: int = 13
    learning_rate: float = 1e-3
    schedule: str = "warm-up-cosine"

    def model(self, task: Task) -> nn.Module:
        source, target = task.shape
        sizes = self.width, self.depth, self.heads, self.hidden
        return Transformer(source, target, *sizes, self.dropout, self.norm)

    def pictures(self, model: nn.Module, data: Captions) -> "dict[str, Figure]":
        """Besides the usual one: what the last layer looks at, every head of one sentence."""
        from chainrule.plots.attention import positional_encoding, text_attention
        from chainrule.plots.translation import alignments

        def heads(source: Tensor, previous: Tensor) -> Tensor:
            maps = attention_maps(model, source, previous)
            return torch.cat([A for name, A in maps.items() if name.endswith("cross")])

        found = self.translations(model, data, "test")
        seen = aligned(data, found, lambda *pair: heads(*pair).movedim(2, 0))
        drawn = super().pictures(model, data)
        waves = sinusoidal(PLACES, self.width).numpy()
        drawn["positions"] = positional_encoding(waves, "sinusoidal positions")
        if seen:
            last = [(german, english, A[:, -1].mean(1)) for german, english, A in seen]
            german, english, A = seen[0]
            drawn["alignment"] = alignments(last)
            drawn["heads"] = text_attention(np.moveaxis(A, 0, 2), english, german)
        return drawn

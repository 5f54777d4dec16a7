"""BERT that labels words: each word answers by the vector of its first piece.

    f(x)_w = W h_{t(w)} + b                   t(w): where the first piece of word w stands

The other pieces of a word are read, but not asked.

Devlin, Chang, Lee and Toutanova (2019), NAACL, section 5.3. Notes: J 6.5 (part-of-speech tagging).
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.attention.bert import BERT, load_with_head
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.transformer_block import draw_weights


class BertTagger(nn.Module):
    """Pieces of words, and where words begin → the logits of each word's tag."""

    def __init__(self, bert: BERT, tags: int):
        super().__init__()
        self.output = nn.Linear(bert.width, tags)
        draw_weights(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        first: Int[Tensor, "batch words"] | None = None,
    ) -> Float[Tensor, "batch words tags"]:
        """first: place of each word's first piece, rows filled up with 0; all pieces without it."""
        h = self.bert(tokens)
        if first is not None:
            h = h.gather(1, first[:, :, None].expand(-1, -1, h.shape[2]))
        return self.output(dropped(h, self.bert.rate, self.training))


def load_published(
    model: BertTagger, weights: str | Path | Mapping[str, Tensor], head: bool = False
) -> None:
    """BERT's public weights; with the `head`, those of a tagger of as many tags."""
    load_with_head(model, weights, "classifier", head)


def example() -> tuple[BertTagger, Tensor]:
    """Four tags for each of six pieces."""
    bert = BERT(9, longest=8, width=8, depth=2, heads=2, dropout=0.0)
    return BertTagger(bert, 4), torch.randint(1, 9, (5, 6))

"""BERT that sorts texts: the vector of [CLS] is all that the last map sees.

    f(x) = W tanh(U h_[CLS] + u) + b

U is pre-trained with BERT, W and b begin anew; all weights are then trained on the task.

Devlin, Chang, Lee and Toutanova (2019), NAACL. Notes: J 6.5 (sentiment classification).
"""

from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.attention.bert import BERT, load_with_head
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.transformer_block import draw_weights


class BertClassifier(nn.Module):
    """A text, or a pair of texts → the logits of its class."""

    def __init__(self, bert: BERT, classes: int):
        super().__init__()
        self.pooler = nn.Linear(bert.width, bert.width)
        self.output = nn.Linear(bert.width, classes)
        draw_weights(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        h = self.pooler(self.bert(tokens, segments)[:, 0]).tanh()
        return self.output(dropped(h, self.bert.rate, self.training))


def load_published(
    model: BertClassifier, weights: str | Path | Mapping[str, Tensor], head: bool = False
) -> None:
    """BERT's public weights; with the `head`, those of a classifier of as many classes."""
    load_with_head(model, weights, "classifier", head)


def example() -> tuple[BertClassifier, Tensor]:
    """Three classes of texts of six tokens."""
    bert = BERT(9, longest=8, width=8, depth=2, heads=2, dropout=0.0)
    return BertClassifier(bert, 3), torch.randint(1, 9, (5, 6))

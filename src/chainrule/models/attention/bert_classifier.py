"""BERT that sorts texts: the vector of [CLS] is all that the last map sees.

    f(x) = W z + b,   z = tanh(U h_[CLS] + u)

U is pre-trained with BERT, W and b begin anew; all weights are then trained on the task. A text of
more tokens than BERT has positions is read in windows, each behind its own [CLS]; then z is the
mean of theirs, each as often as it has tokens.

Devlin, Chang, Lee and Toutanova (2019), NAACL; Sun, Qiu, Xu and Huang (2019), CCL, for the
windows. Notes: J 6.5 (sentiment classification).
"""

from collections.abc import Mapping
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.attention.bert import BERT, PADDING, load_with_head
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.transformer_block import draw_weights

AT_ONCE = 128  # windows read together


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
        """segments: of a pair of texts, which must fit into one window."""
        if segments is None and tokens.shape[1] > self.bert.longest:
            z = self.read_in_windows(tokens)
        else:
            z = self.read(tokens, segments)
        return self.output(dropped(z, self.bert.rate, self.training))

    def read(
        self, tokens: Int[Tensor, "batch steps"], segments: Int[Tensor, "batch steps"] | None = None
    ) -> Float[Tensor, "batch width"]:
        return self.pooler(self.bert(tokens, segments)[:, 0]).tanh()

    def read_in_windows(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch width"]:
        """The last window may be shorter, and those of padding alone are not read."""
        cls, rest = tokens[:, :1], tokens[:, 1:]
        size = self.bert.longest - 1
        rest = F.pad(rest, (0, -rest.shape[1] % size), value=PADDING).unflatten(1, (-1, size))
        n = (rest != PADDING).sum(2)
        owner, window = n.nonzero(as_tuple=True)
        texts = torch.cat([cls[owner], rest[owner, window]], 1)
        z = torch.cat([self.read(part) for part in texts.split(AT_ONCE)])
        share = (n[owner, window] / n.sum(1)[owner]).to(z)
        return z.new_zeros(len(tokens), z.shape[1]).index_add(0, owner, share[:, None] * z)


def load_published(
    model: BertClassifier, weights: str | Path | Mapping[str, Tensor], head: bool = False
) -> None:
    """BERT's public weights; with the `head`, those of a classifier of as many classes."""
    load_with_head(model, weights, "classifier", head)


def example() -> tuple[BertClassifier, Tensor]:
    """Three classes of texts of six tokens."""
    bert = BERT(9, longest=8, width=8, depth=2, heads=2, dropout=0.0)
    return BertClassifier(bert, 3), torch.randint(1, 9, (5, 6))

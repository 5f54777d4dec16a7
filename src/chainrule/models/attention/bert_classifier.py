"""BERT for text classification, from the vector of [CLS].

    f(w) = V z + v,   z = tanh(U x_[CLS] + u)

U is pre-trained with BERT, V and v are new; all weights are trained on the task. A text of more
tokens than BERT has positions is read in windows, each with its own [CLS]; z is then the mean over
the windows, weighted by their numbers of tokens.

Devlin, Chang, Lee and Toutanova (2019), NAACL; Sun, Qiu, Xu and Huang (2019), CCL, for the
windows. Notes: J 6.5 (sentiment classification).
"""

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.models.attention.bert import BERT, PADDING
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.transformer_block import normal_initialization

WINDOWS_PER_BATCH = 128


@checked
class BertClassifier(nn.Module):
    """A text or a pair of texts → the logits of its class.

        f(w) = V z + v,   z = tanh(U x_[CLS] + u)

    Args:
        bert: The encoder.
        classes: Number of classes.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import BERT, BertClassifier
        >>> bert = BERT(vocab_size=100, max_length=16, hidden_size=32, num_layers=2, num_heads=4)
        >>> model = BertClassifier(bert, classes=2)
        >>> model(torch.randint(1, 100, (3, 40))).shape  # three windows each
        torch.Size([3, 2])
    """

    def __init__(self, bert: BERT, classes: Count):
        super().__init__()
        self.pooler = nn.Linear(bert.hidden_size, bert.hidden_size)
        self.output = nn.Linear(bert.hidden_size, classes)
        normal_initialization(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch classes"]:
        """segments: for a pair of texts, which must fit into one window."""
        if segments is None and tokens.shape[1] > self.bert.max_length:
            z = self.pool_windows(tokens)
        else:
            z = self.pool(tokens, segments)
        return self.output(dropped(z, self.bert.dropout, self.training))

    def pool(
        self, tokens: Int[Tensor, "batch steps"], segments: Int[Tensor, "batch steps"] | None = None
    ) -> Float[Tensor, "batch hidden"]:
        """z = tanh(U x_[CLS] + u)."""
        return self.pooler(self.bert(tokens, segments)[:, 0]).tanh()

    def pool_windows(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch hidden"]:
        """The weighted mean of z over the windows of a text; windows of padding are skipped."""
        cls, rest = tokens[:, :1], tokens[:, 1:]
        size = self.bert.max_length - 1
        rest = F.pad(rest, (0, -rest.shape[1] % size), value=PADDING).unflatten(1, (-1, size))
        n = (rest != PADDING).sum(2)
        text, window = n.nonzero(as_tuple=True)
        windows = torch.cat([cls[text], rest[text, window]], 1)
        z = torch.cat([self.pool(part) for part in windows.split(WINDOWS_PER_BATCH)])
        weight = (n[text, window] / n.sum(1)[text]).to(z)
        return z.new_zeros(len(tokens), z.shape[1]).index_add(0, text, weight[:, None] * z)


def example() -> tuple[BertClassifier, Tensor]:
    """Three classes of texts of six tokens."""
    bert = BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2, dropout=0.0)
    return BertClassifier(bert, 3), torch.randint(1, 9, (5, 6))

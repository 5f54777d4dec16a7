"""BERT's pre-training: predict masked tokens, and whether one text follows the other.

    p(w_t | the rest) = softmax(E N(φ(W x_t + b)) + c)           at the masked positions t
    p(b follows a)    = softmax(V tanh(U x_[CLS] + u) + v)       0: it does, 1: it does not

E is BERT's embedding matrix. The first product is the most expensive one, so it is computed at the
given positions only, 15 % of them. `learning.masking` chooses and masks them.

Devlin, Chang, Lee and Toutanova (2019), NAACL; Taylor (1953) for the cloze test. Notes: J 6.5.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.models.attention.bert import BERT, EPS
from chainrule.nn.transformer_block import normal_initialization


class PretrainingLogits(NamedTuple):
    """Logits of the token at each position, and of whether the second text follows the first."""

    tokens: Float[Tensor, "batch positions vocab"]
    next_sentence: Float[Tensor, "batch 2"]


@checked
class BertPretraining(nn.Module):
    """BERT with the heads of masked language modeling and next-sentence prediction.

        p(w_t | the rest) = softmax(E N(φ(W x_t + b)) + c)
        p(b follows a)    = softmax(V tanh(U x_[CLS] + u) + v)

    Args:
        bert: The encoder.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import BERT, BertPretraining
        >>> bert = BERT(vocab_size=100, max_length=16, hidden_size=32, num_layers=2, num_heads=4)
        >>> tokens, masked = torch.randint(1, 100, (3, 12)), torch.tensor([[2, 7]] * 3)
        >>> logits = BertPretraining(bert).logits(tokens, positions=masked)
        >>> logits.tokens.shape, logits.next_sentence.shape
        (torch.Size([3, 2, 100]), torch.Size([3, 2]))
    """

    def __init__(self, bert: BERT):
        super().__init__()
        self.transform = nn.Linear(bert.hidden_size, bert.hidden_size)
        self.norm = nn.LayerNorm(bert.hidden_size, eps=EPS)
        self.bias = nn.Parameter(torch.zeros(bert.vocab_size))
        self.pooler = nn.Linear(bert.hidden_size, bert.hidden_size)
        self.next_sentence = nn.Linear(bert.hidden_size, 2)
        normal_initialization(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch outputs"]:
        """All logits in one row: those of the tokens, position by position, then the two others."""
        logits = self.logits(tokens, segments)
        return torch.cat([logits.tokens.flatten(1), logits.next_sentence], 1)

    def logits(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
        positions: Int[Tensor, "batch positions"] | None = None,
    ) -> PretrainingLogits:
        """positions: where tokens are predicted; by default everywhere."""
        x = self.bert(tokens, segments)
        masked = x
        if positions is not None:
            masked = x.gather(1, positions[:, :, None].expand(-1, -1, x.shape[2]))
        h = self.norm(F.gelu(self.transform(masked)))
        return PretrainingLogits(
            F.linear(h, self.bert.embedding.weight) + self.bias,
            self.next_sentence(self.pooler(x[:, 0]).tanh()),
        )


def example() -> tuple[BertPretraining, Tensor]:
    """A vocabulary of nine tokens, two blocks of two heads, and five texts of six tokens."""
    bert = BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2, dropout=0.0)
    return BertPretraining(bert), torch.randint(1, 9, (5, 6))

"""BERT for extractive question answering: where in a passage the answer starts and ends.

    s_t = w_s · x_t + b_s,     e_t = w_e · x_t + b_e
    p(start = t) = softmax_t(s),   p(end = t) = softmax_t(e)
    answer = argmax s_i + e_j      over spans in the passage with i ≤ j < i + max_length

The input is [CLS] question [SEP] passage [SEP].

Devlin, Chang, Lee and Toutanova (2019), NAACL, section 4.2. Notes: J 6.5 (question answering).
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.models.attention.bert import BERT, PADDING
from chainrule.nn.transformer_block import normal_initialization


class Spans(NamedTuple):
    """First and last token of each answer, and s_i + e_j."""

    start: Int[Tensor, " batch"]
    end: Int[Tensor, " batch"]
    score: Float[Tensor, " batch"]


@checked
class BertQuestionAnswering(nn.Module):
    """Question and passage → s and e of every token, the smallest float at padding.

        s_t = w_s · x_t + b_s,     e_t = w_e · x_t + b_e

    Args:
        bert: The encoder.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import BERT, BertQuestionAnswering
        >>> bert = BERT(vocab_size=100, max_length=16, hidden_size=32, num_layers=2, num_heads=4)
        >>> model, tokens = BertQuestionAnswering(bert), torch.randint(1, 100, (3, 12))
        >>> model(tokens).shape
        torch.Size([3, 12, 2])
    """

    def __init__(self, bert: BERT):
        super().__init__()
        self.output = nn.Linear(bert.hidden_size, 2)
        normal_initialization(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps 2"]:
        """s and e in the last axis; the softmax runs over the positions."""
        scores = self.output(self.bert(tokens, segments))
        return scores.masked_fill((tokens == PADDING)[:, :, None], torch.finfo(scores.dtype).min)


def best_spans(
    output: Float[Tensor, "batch steps 2"],
    passage: Bool[Tensor, "batch steps"],
    max_length: int = 30,
) -> Spans:
    """argmax s_i + e_j over i ≤ j < i + max_length with both in the passage."""
    if max_length < 1:
        raise InputError(f"max_length must be at least 1, got {max_length}")
    if not passage.any(1).all():
        empty = int((~passage.any(1)).sum())
        raise InputError(f"passage must mark at least one token in every row, got {empty} without")
    s, e = output.masked_fill(~passage[:, :, None], -torch.inf).unbind(2)
    steps = output.shape[1]
    legal = torch.ones(steps, steps, dtype=torch.bool, device=output.device)
    legal = legal.triu() & legal.tril(max_length - 1)
    scores = (s[:, :, None] + e[:, None]).masked_fill(~legal, -torch.inf).flatten(1)
    score, index = scores.max(1)
    return Spans(index // steps, index % steps, score)


def example() -> tuple[BertQuestionAnswering, Tensor]:
    """Where in six tokens the answer lies."""
    bert = BERT(9, max_length=8, hidden_size=8, num_layers=2, num_heads=2, dropout=0.0)
    return BertQuestionAnswering(bert), torch.randint(1, 9, (5, 6))

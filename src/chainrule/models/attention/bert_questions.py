"""BERT that answers questions by showing where in a passage the answer begins and ends.

    s_t = w_s · h_t + b_s,     e_t = w_e · h_t + b_e
    p(start = t) = softmax_t(s),   p(end = t) = softmax_t(e)
    answer = argmax s_i + e_j      over the legal spans: i ≤ j < i + longest, both in the passage

The text is [CLS] question [SEP] passage [SEP].

Devlin, Chang, Lee and Toutanova (2019), NAACL, section 4.2. Notes: J 6.5 (question answering).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.attention.bert import BERT, PADDING, load_with_head
from chainrule.nn.transformer_block import draw_weights


class Spans(NamedTuple):
    """First and last token of each answer, and s_i + e_j."""

    start: Int[Tensor, " batch"]
    end: Int[Tensor, " batch"]
    score: Float[Tensor, " batch"]


class BertQuestions(nn.Module):
    """Question and passage → s and e of every token; -∞, as far as floats go, at padding."""

    def __init__(self, bert: BERT):
        super().__init__()
        self.output = nn.Linear(bert.width, 2)
        draw_weights(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch steps 2"]:
        """s and e in the last axis: classes are places, so a place is an answer's class."""
        found = self.output(self.bert(tokens, segments))
        return found.masked_fill((tokens == PADDING)[:, :, None], torch.finfo(found.dtype).min)


def best_spans(
    output: Float[Tensor, "batch steps 2"],
    passage: Bool[Tensor, "batch steps"],
    longest: int = 30,
) -> Spans:
    """argmax s_i + e_j over i ≤ j < i + longest with both in the passage."""
    if longest < 1 or not passage.any(1).all():
        raise InputError(
            f"expected answers of one token or more and a passage in every row, got {longest} and "
            f"{int((~passage.any(1)).sum())} rows without one"
        )
    s, e = output.masked_fill(~passage[:, :, None], -torch.inf).unbind(2)
    steps = output.shape[1]
    legal = torch.ones(steps, steps, dtype=torch.bool, device=output.device)
    legal = legal.triu() & legal.tril(longest - 1)
    scores = (s[:, :, None] + e[:, None]).masked_fill(~legal, -torch.inf).flatten(1)
    score, place = scores.max(1)
    return Spans(place // steps, place % steps, score)


def load_published(
    model: BertQuestions, weights: str | Path | Mapping[str, Tensor], head: bool = False
) -> None:
    """BERT's public weights; with the `head`, those of a model that answers questions."""
    load_with_head(model, weights, "qa_outputs", head)


def example() -> tuple[BertQuestions, Tensor]:
    """Where in six tokens the answer lies."""
    bert = BERT(9, longest=8, width=8, depth=2, heads=2, dropout=0.0)
    return BertQuestions(bert), torch.randint(1, 9, (5, 6))

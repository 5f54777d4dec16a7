"""BERT's pre-training: guess the hidden words, and whether one text follows the other.

    p(x_t | the rest) = softmax(E N(φ(W h_t + b)) + c)           at the hidden places t
    p(b follows a)    = softmax(V tanh(U h_[CLS] + u) + v)       0: it does, 1: it does not

E is BERT's own matrix of token vectors. The words are asked for at given places only, 15 % of them:
that product is the dearest of all. Which words are hidden, and how, is for `learning.masking`.

Devlin, Chang, Lee and Toutanova (2019), NAACL; Taylor (1953) for the cloze test. Notes: J 6.5.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.models.attention.bert import BERT, EPS, WITHIN, published
from chainrule.nn.transformer_block import draw_weights
from chainrule.pretrained.loading import load_published as fit
from chainrule.pretrained.state_dict_rules import opened, untied


class Answers(NamedTuple):
    """Logits of the words at the places asked for, and of whether the second text follows."""

    words: Float[Tensor, "batch places symbols"]
    follows: Float[Tensor, "batch 2"]


class BertPretraining(nn.Module):
    """BERT with its two heads."""

    def __init__(self, bert: BERT):
        super().__init__()
        self.transform = nn.Linear(bert.width, bert.width)
        self.norm = nn.LayerNorm(bert.width, eps=EPS)
        self.bias = nn.Parameter(torch.zeros(bert.symbols))
        self.pooler = nn.Linear(bert.width, bert.width)
        self.follows = nn.Linear(bert.width, 2)
        draw_weights(self)
        self.bert = bert

    def forward(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
    ) -> Float[Tensor, "batch outputs"]:
        """Both answers in one row: the words at all places, place by place, then the two."""
        found = self.answers(tokens, segments)
        return torch.cat([found.words.flatten(1), found.follows], 1)

    def answers(
        self,
        tokens: Int[Tensor, "batch steps"],
        segments: Int[Tensor, "batch steps"] | None = None,
        places: Int[Tensor, "batch places"] | None = None,
    ) -> Answers:
        """places: where words are asked for; everywhere without them."""
        h = self.bert(tokens, segments)
        asked = h
        if places is not None:
            asked = h.gather(1, places[:, :, None].expand(-1, -1, h.shape[2]))
        words = F.linear(self.norm(F.gelu(self.transform(asked))), self.bert.embedding.weight)
        return Answers(words + self.bias, self.follows(self.pooler(h[:, 0]).tanh()))


HEADS = (
    *WITHIN,
    (r"cls\.predictions\.transform\.dense\.", "transform."),
    (r"cls\.predictions\.transform\.LayerNorm\.", "norm."),
    (r"cls\.predictions\.bias$", "bias"),
    (r"cls\.seq_relationship\.", "follows."),
)


def load_published(model: BertPretraining, weights: str | Path | Mapping[str, Tensor]) -> None:
    """BERT with both heads under its public names, from a safetensors file or a state dict."""
    state = opened(published(weights), HEADS)
    state = untied(state, "cls.predictions.decoder.weight", "bert.embedding.weight")
    fit(model, untied(state, "cls.predictions.decoder.bias", "bias"))


def example() -> tuple[BertPretraining, Tensor]:
    """Nine tokens, two blocks of two heads, and five texts of six tokens."""
    bert = BERT(9, longest=8, width=8, depth=2, heads=2, dropout=0.0)
    return BertPretraining(bert), torch.randint(1, 9, (5, 6))

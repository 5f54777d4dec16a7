"""Bag of words: a network that sees which words a text holds, not their order.

    h = Σ_{w in text} W_w + b,   f = output of the layers behind it;   linear if there are none

This is an MLP on a row of zeros and ones, one for every word of the vocabulary, of which only the
ones are stored and added: a text is the list of its words' numbers. Token 0 is padding.

Harris (1954), Word 10; the linear case with a lasso penalty is ISL's glmnet. Notes: L "When to Use
Deep Learning" (IMDB).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.dropout import dropout as dropped

PADDING = 0


class BagOfWords(nn.Module):
    """The set of a text's words → hidden layers → outputs."""

    def __init__(
        self, words: int, hidden: Sequence[int] = (), outputs: int = 2, dropout: float = 0.0
    ):
        super().__init__()
        if words < 2 or outputs < 1:
            raise InputError(f"expected words and outputs, got {words} and {outputs}")
        first = hidden[0] if hidden else outputs
        self.rate = dropout
        self.words = nn.Embedding(words, first, PADDING)
        self.bias = nn.Parameter(torch.zeros(first))
        with torch.no_grad():  # some 130 words of a text add up to about unit variance
            self.words.weight.normal_(std=0.1)[PADDING] = 0.0
        self.rest = MLP(first, hidden[1:], outputs, dropout=dropout) if hidden else None

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch outputs"]:
        h = self.words(tokens).sum(1) + self.bias
        if self.rest is None:
            return h
        return self.rest(dropped(h.relu(), self.rate, self.training))


def example() -> tuple[BagOfWords, Tensor]:
    """Nine words, two hidden layers of four units, and five texts of six words."""
    return BagOfWords(10, (4, 4)), torch.randint(1, 10, (5, 6))

"""Bag of words: a network that sees which words a text contains, not their order.

    h = Σ_{w in text} W_w + b,   f(x) = h, or MLP(φ(h)) with hidden layers

This is an MLP on a vector of zeros and ones, one for every word of the vocabulary. Only the ones
are stored and summed: a text is the list of its tokens. Token 0 is padding.

Harris (1954), Word 10; the linear case with a lasso penalty is ISL's glmnet. Notes: L "When to Use
Deep Learning" (IMDB).
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.dropout import dropout as dropped

PADDING = 0


@checked
class BagOfWords(nn.Module):
    """A network on the set of words of a text; linear without hidden layers.

        h = Σ_{w in text} W_w + b,     f(x) = h  or  MLP(φ(h)),     φ the ReLU

    Args:
        vocab_size: Number of tokens, with the padding 0.
        hidden: Units of each hidden layer.
        outputs: Number of outputs.
        dropout: Probability of dropping a hidden unit.

    Example:
        >>> import torch
        >>> model = BagOfWords(vocab_size=10)
        >>> text, shuffled = torch.tensor([[3, 7, 1, 0]]), torch.tensor([[7, 0, 1, 3]])
        >>> torch.allclose(model(text), model(shuffled))
        True
    """

    def __init__(
        self,
        vocab_size: TwoOrMore,
        hidden: Sequence[Count] = (),
        outputs: Count = 2,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        first = hidden[0] if hidden else outputs
        self.rate = dropout
        self.words = nn.Embedding(vocab_size, first, PADDING)
        self.bias = nn.Parameter(torch.zeros(first))
        with torch.no_grad():  # the sum over about 130 words then has unit variance
            self.words.weight.normal_(std=0.1)[PADDING] = 0.0
        self.rest = MLP(first, hidden[1:], outputs, dropout=dropout) if hidden else None

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch outputs"]:
        h = self.words(tokens).sum(1) + self.bias
        if self.rest is None:
            return h
        return self.rest(dropped(h.relu(), self.rate, self.training))


def example() -> tuple[BagOfWords, Tensor]:
    """A vocabulary of nine words, two hidden layers, and five texts of six words."""
    return BagOfWords(10, (4, 4)), torch.randint(1, 10, (5, 6))

"""Word tagger: word embeddings, a recurrent network that reads both ways, a tag for every word.

    e_t = E x_t,   y_t = W [→z_t, ←z_t] + c

→z has read the words up to t and ←z those from t on, so that y_t depends on the whole sentence.
Token 0 is padding and is ignored.

Graves and Schmidhuber (2005), Neural Networks 18; for tagging: Wang et al. (2015), arXiv
1510.06168. Notes: J 5 (same-length prediction), L "RNNs" (word embeddings).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.models.recurrent.bidirectional import Bidirectional
from chainrule.models.recurrent.layers import recurrent_layer
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import PADDING, token_lengths


@checked
class WordTagger(nn.Module):
    """A recurrent tagger of tokenized sentences.

        e_t = E x_t,   y_t = W [→z_t, ←z_t] + c

    Args:
        vocab_size: Number of tokens; token 0 is padding.
        tags: Number of tags.
        cell: Recurrent cell, a name from `layers.CELLS`.
        embedding_dim: Size of a word embedding.
        hidden_size: Number of recurrent units in each direction.
        dropout: Dropout rate of embeddings and features.

    >>> import torch
    >>> from chainrule.models.recurrent import WordTagger
    >>> model = WordTagger(vocab_size=100, tags=5, cell="gru")
    >>> model(torch.tensor([[5, 17, 3], [8, 0, 0]])).shape
    torch.Size([2, 3, 5])
    """

    def __init__(
        self,
        vocab_size: TwoOrMore,
        tags: Count,
        cell: str = "lstm",
        embedding_dim: Count = 64,
        hidden_size: Count = 64,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.dropout = dropout
        self.embedding = nn.Embedding(vocab_size, embedding_dim, PADDING)
        with torch.no_grad():
            self.embedding.weight.mul_(0.1)
        layers = [recurrent_layer(cell, embedding_dim, hidden_size) for _ in range(2)]
        self.network = Bidirectional(*layers)
        self.output = initialize(nn.Linear(2 * hidden_size, tags), "lecun")

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch steps tags"]:
        lengths = token_lengths(tokens).clamp(min=1)
        e = dropped(self.embedding(tokens), self.dropout, self.training)
        z, _ = self.network(e, None, lengths)
        return self.output(dropped(z, self.dropout, self.training))


def example() -> tuple[WordTagger, Tensor]:
    """Ten words, eight units each way, three tags, and five sentences of six words."""
    return WordTagger(10, 3, "lstm", 4, 8), torch.randint(1, 10, (5, 6))

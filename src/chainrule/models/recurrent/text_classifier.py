"""Text classifier: word embeddings, a recurrent network, and the maximum over time.

    e_t = E x_t,   z_t = F(z_{t-1}, e_t),   y = W max_t z_t + c

F is any recurrent network of the chapter. The maximum of each unit over the text finds the decisive
word wherever it stands; after a review of 400 words, the last output alone has forgotten its
beginning. Token 0 is padding and is ignored.

Hochreiter and Schmidhuber (1997); the maximum over time: Collobert et al. (2011), JMLR 12.
Notes: L "RNNs" (word embeddings), L "When to Use Deep Learning" (IMDB).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.models.recurrent.layers import recurrent_network
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import PADDING, token_lengths, trim_padding, valid_mask


@checked
class TextClassifier(nn.Module):
    """A recurrent classifier of tokenized texts.

        e_t = E x_t,   z_t = F(z_{t-1}, e_t),   y = W max_t z_t + c

    Args:
        vocab_size: Number of tokens; token 0 is padding.
        outputs: Number of classes, or of values to predict.
        cell: Recurrent cell F, a name from `layers.CELLS`.
        embedding_dim: Size of a word embedding.
        hidden_size: Number of recurrent units.
        dropout: Dropout rate of embeddings and features.

    >>> import torch
    >>> from chainrule.models.recurrent import TextClassifier
    >>> model = TextClassifier(vocab_size=100, outputs=2, cell="gru")
    >>> model(torch.tensor([[5, 17, 3], [8, 0, 0]])).shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        vocab_size: TwoOrMore,
        outputs: Count,
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
        self.network = recurrent_network(cell, embedding_dim, hidden_size)
        self.output = initialize(nn.Linear(hidden_size, outputs), "lecun")

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch outputs"]:
        trimmed = trim_padding(tokens)
        lengths = token_lengths(trimmed).clamp(min=1)
        e = dropped(self.embedding(trimmed), self.dropout, self.training)
        z, _ = self.network(e)  # outputs at padding are masked below
        padding = ~valid_mask(lengths, z.shape[1])
        features = z.masked_fill(padding[:, :, None], -torch.inf).amax(1)
        return self.output(dropped(features, self.dropout, self.training))


def example() -> tuple[TextClassifier, Tensor]:
    """Ten words, eight units, and five texts of six words."""
    return TextClassifier(10, 3, "lstm", 4, 8), torch.randint(1, 10, (5, 6))

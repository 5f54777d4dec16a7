"""Text classifier: read the words in their order, then answer from all that was noticed.

    e_t = E x_t,   z_t = F(z_{t-1}, e_t),   y = W max_t z_t + c

F is any recurrent network of the chapter. The greatest output of each unit over the text is taken,
since the word that decides may stand anywhere; the last output alone has forgotten the beginning of
a review of 400 words. Token 0 is padding and is not read.

Hochreiter and Schmidhuber (1997); the maximum over time: Collobert et al. (2011), JMLR 12.
Notes: L "RNNs" (word embeddings), L "When to Use Deep Learning" (IMDB).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.layers import network
from chainrule.models.recurrent.seq2seq import PADDING, lengths_of, without_empty_steps
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize


class TextClassifier(nn.Module):
    """Words → embeddings → a recurrent network → outputs."""

    def __init__(
        self,
        words: int,
        outputs: int,
        cell: str = "lstm",
        embedding: int = 64,
        width: int = 64,
        dropout: float = 0.0,
    ):
        super().__init__()
        if words < 2 or outputs < 1 or embedding < 1:
            raise InputError(
                f"expected words, outputs and an embedding, got {words}, {outputs} and {embedding}"
            )
        self.rate = dropout
        self.embedding = nn.Embedding(words, embedding, PADDING)
        with torch.no_grad():
            self.embedding.weight.mul_(0.1)
        self.network = network(cell, embedding, width)
        self.output = initialize(nn.Linear(width, outputs), "lecun")

    def forward(self, tokens: Int[Tensor, "batch length"]) -> Float[Tensor, "batch outputs"]:
        trimmed = without_empty_steps(tokens)
        lengths = lengths_of(trimmed).clamp(min=1)
        e = dropped(self.embedding(trimmed), self.rate, self.training)
        z, _ = self.network(e)  # what it reads behind the end of a text is not looked at
        behind = torch.arange(z.shape[1], device=z.device) >= lengths[:, None]
        noticed = z.masked_fill(behind[:, :, None], -torch.inf).amax(1)
        return self.output(dropped(noticed, self.rate, self.training))


def example() -> tuple[TextClassifier, Tensor]:
    """Ten words, eight units, and five texts of six words."""
    return TextClassifier(10, 3, "lstm", 4, 8), torch.randint(1, 10, (5, 6))

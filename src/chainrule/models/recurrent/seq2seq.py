"""Sequence to sequence: one network reads a sentence, another writes its translation.

    ζ = encoder(x_1 … x_m)                             final state of the encoder
    z_0 = ζ,   z_i = F(z_{i-1}, E y_{i-1})             decoder
    p(y_i | x, y_1 … y_{i-1}) = softmax(W z_i + b)
    p(y | x) = Π_i p(y_i | x, y_1 … y_{i-1})

ζ is all that the decoder knows of the sentence, however long the sentence is. Encoder and decoder
are recurrent networks with the same cell. In training the decoder reads the true y_{i-1} (teacher
forcing), so that all steps are computed together. Token 0 is padding.

Sutskever, Vinyals and Le (2014), NeurIPS; Cho et al. (2014), EMNLP. Notes: J 5.3.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.models.recurrent.layers import recurrent_network
from chainrule.models.recurrent.recurrent import Recurrent, State, pack_state, state_tensors
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import PADDING, token_lengths, trim_padding


@checked
class Seq2Seq(nn.Module):
    """A recurrent encoder and decoder that translate token sequences.

        z_0 = encoder(x_1 … x_m),   z_i = F(z_{i-1}, E y_{i-1})
        p(y_i | x, y_1 … y_{i-1}) = softmax(W z_i + b)

    Args:
        source_vocab_size: Tokens of the source language; token 0 is padding.
        target_vocab_size: Tokens of the target language; token 0 is padding.
        cell: Recurrent cell of both networks, a name from `layers.CELLS`.
        embedding_dim: Size of a token embedding.
        hidden_size: Units of each layer.
        num_layers: Layers of each network.
        dropout: Dropout rate of embeddings, layers and decoder states.

    >>> import torch
    >>> from chainrule.models.recurrent import Seq2Seq
    >>> model = Seq2Seq(50, 60, "gru", embedding_dim=8, hidden_size=16)
    >>> model(torch.tensor([[4, 5, 6]]), torch.tensor([[2, 7]])).shape
    torch.Size([1, 2, 60])
    """

    def __init__(
        self,
        source_vocab_size: TwoOrMore,
        target_vocab_size: TwoOrMore,
        cell: str = "gru",
        embedding_dim: Count = 256,
        hidden_size: Count = 256,
        num_layers: Count = 1,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.dropout = dropout
        self.source_embedding = nn.Embedding(source_vocab_size, embedding_dim, PADDING)
        self.target_embedding = nn.Embedding(target_vocab_size, embedding_dim, PADDING)
        self.encoder = recurrent_network(cell, embedding_dim, hidden_size, num_layers, dropout)
        self.decoder = recurrent_network(cell, embedding_dim, hidden_size, num_layers, dropout)
        self.output = initialize(nn.Linear(hidden_size, target_vocab_size), "lecun")

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"] | None = None
    ) -> Float[Tensor, "batch n target"]:
        """Logits of y_1 … y_n, given y_0 … y_{n-1}; `previous` defaults to the source."""
        return self.output(self.hidden(source, source if previous is None else previous))

    def hidden(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n hidden_size"]:
        """z_1 … z_n, the input of W; undefined after a padding token."""
        y = dropped(self.target_embedding(previous), self.dropout, self.training)
        z, _ = self.decoder(y, self.encode(source))
        return dropped(z, self.dropout, self.training)

    def encode(self, source: Int[Tensor, "batch m"]) -> State:
        """ζ, the encoder's state at the end of each sentence."""
        trimmed = trim_padding(source)
        x = dropped(self.source_embedding(trimmed), self.dropout, self.training)
        return final_state(self.encoder, x, token_lengths(trimmed))

    def decode_step(
        self, previous: Int[Tensor, " batch"], state: State
    ) -> tuple[Float[Tensor, "batch target"], State]:
        """Log-probabilities of the next token, and the state after the previous one."""
        z, after = self.decoder(self.target_embedding(previous)[:, None], state)
        return self.output(z[:, 0]).log_softmax(-1), after


def final_state(
    network: Recurrent, x: Float[Tensor, "batch steps input_size"], lengths: Int[Tensor, " batch"]
) -> State:
    """Each row's state after its last valid step, read in chunks that end where a row ends.

    torch's kernels need ten times as long for packed rows of different lengths.
    """
    state: State | None = None
    kept: tuple[Tensor, ...] = ()
    start = 0
    for end in lengths.unique().tolist():
        _, state = network(x[:, start:end], state)
        now = state_tensors(state)
        running = [(lengths >= end).view(-1, *[1] * (new.ndim - 1)) for new in now]
        kept = tuple(
            torch.where(mask, new, old)
            for mask, new, old in zip(running, now, kept or now, strict=True)
        )
        start = end
    return pack_state(kept)


def example() -> tuple[Seq2Seq, Tensor]:
    """Seven tokens of each language, eight units, and five sentences of six tokens."""
    return Seq2Seq(7, 7, "gru", 4, 8), torch.randint(1, 7, (5, 6))

"""Additive attention: at every step the decoder looks back at the words of the sentence.

    ζ_j = [→ζ_j, ←ζ_j]                               bidirectional GRU over the sentence
    a_ij = softmax_j(vᵀ tanh(W s_{i-1} + U ζ_j))     weight of word j at step i
    c_i = Σ_j a_ij ζ_j                               context vector
    s_i = GRU(s_{i-1}, [E y_{i-1}, c_i]),   s_0 = tanh(W_0 ←ζ_1)
    p(y_i | x, y_1 … y_{i-1}) = softmax(V tanh(R [s_i, c_i, E y_{i-1}]))

The sentence need not pass through one vector, and a is an alignment of the two sentences. Token 0
is padding and gets no attention.

Bahdanau, Cho and Bengio (2015), ICLR. Notes: J 5.3.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.models.recurrent.gru import GRU
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import PADDING, reverse, token_lengths, trim_padding


class DecoderState(NamedTuple):
    """s_i, and what stays the same for all steps: ζ, its keys U ζ, and where the words are."""

    s: Float[Tensor, "batch hidden_size"]
    annotations: Float[Tensor, "batch m both"]
    keys: Float[Tensor, "batch m a"]
    mask: Bool[Tensor, "batch m"]


@checked
class Bahdanau(nn.Module):
    """A recurrent encoder and decoder with additive attention.

        a_ij = softmax_j(vᵀ tanh(W s_{i-1} + U ζ_j)),   c_i = Σ_j a_ij ζ_j
        s_i  = GRU(s_{i-1}, [E y_{i-1}, c_i])
        p(y_i | x, y_1 … y_{i-1}) = softmax(V tanh(R [s_i, c_i, E y_{i-1}]))

    Args:
        source_vocab_size: Tokens of the source language; token 0 is padding.
        target_vocab_size: Tokens of the target language; token 0 is padding.
        embedding_dim: Size of a token embedding.
        hidden_size: Units of the decoder and of each direction of the encoder.
        dropout: Dropout rate of embeddings and decoder features.

    >>> import torch
    >>> from chainrule.models.recurrent import Bahdanau
    >>> model = Bahdanau(50, 60, embedding_dim=8, hidden_size=16)
    >>> source, previous = torch.tensor([[4, 5, 6]]), torch.tensor([[2, 7]])
    >>> model(source, previous).shape, model.alignment(source, previous).shape
    (torch.Size([1, 2, 60]), torch.Size([1, 2, 3]))
    """

    def __init__(
        self,
        source_vocab_size: TwoOrMore,
        target_vocab_size: TwoOrMore,
        embedding_dim: Count = 256,
        hidden_size: Count = 256,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.dropout = dropout
        e, m = embedding_dim, hidden_size
        self.source_embedding = nn.Embedding(source_vocab_size, e, PADDING)
        self.target_embedding = nn.Embedding(target_vocab_size, e, PADDING)
        self.forward_encoder, self.backward_encoder = GRU(e, m), GRU(e, m)
        self.initial_state = initialize(nn.Linear(m, m), "lecun")
        self.key = initialize(nn.Linear(2 * m, m), "lecun")
        self.query = initialize(nn.Linear(m, m, bias=False), "lecun")
        self.score = initialize(nn.Linear(m, 1, bias=False), "lecun")
        self.word_gates = initialize(nn.Linear(e, 3 * m), "lecun")
        self.context_gates = initialize(nn.Linear(2 * m, 3 * m, bias=False), "lecun")
        self.state_gates = initialize(nn.Linear(m, 3 * m), "lecun")
        self.readout = initialize(nn.Linear(3 * m + e, e), "lecun")
        self.output = initialize(nn.Linear(e, target_vocab_size), "lecun")

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"] | None = None
    ) -> Float[Tensor, "batch n target"]:
        """Logits of y_1 … y_n, given y_0 … y_{n-1}; `previous` defaults to the source."""
        return self.output(self.hidden(source, source if previous is None else previous))

    def hidden(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n embedding_dim"]:
        """tanh(R [s_i, c_i, E y_{i-1}]), the input of V; undefined after a padding token."""
        return self.unroll(source, previous)[0]

    def alignment(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n shorter"]:
        """a_ij of every step i and word j, up to the end of the longest sentence."""
        return self.unroll(source, previous)[1]

    def unroll(self, source: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Features and attention weights of all steps, with teacher forcing."""
        state = self.encode(source)
        y = dropped(self.target_embedding(previous), self.dropout, self.training)
        states, contexts, weights = [], [], []
        for gates in self.word_gates(y).unbind(1):
            s, c, a = self.attend(gates, state)
            state = state._replace(s=s)
            states.append(s)
            contexts.append(c)
            weights.append(a)
        features = self.features(torch.stack(states, 1), torch.stack(contexts, 1), y)
        return dropped(features, self.dropout, self.training), torch.stack(weights, 1)

    def encode(self, source: Int[Tensor, "batch m"]) -> DecoderState:
        """s_0, ζ and its keys, computed once for each sentence."""
        trimmed = trim_padding(source)
        x = dropped(self.source_embedding(trimmed), self.dropout, self.training)
        lengths = token_lengths(trimmed)
        forwards, _ = self.forward_encoder(x)
        backwards = reverse(self.backward_encoder(reverse(x, lengths))[0], lengths)
        zeta = torch.cat([forwards, backwards], 2)
        s = self.initial_state(backwards[:, 0]).tanh()
        return DecoderState(s, zeta, self.key(zeta), trimmed != PADDING)

    def attend(self, word_gates: Tensor, state: DecoderState) -> tuple[Tensor, Tensor, Tensor]:
        """(s_i, c_i, a_i) from s_{i-1} and the contribution of E y_{i-1} to the gates."""
        s, zeta, keys, mask = state
        a = attention(self.score(torch.tanh(keys + self.query(s)[:, None]))[:, :, 0], mask)
        c = (a[:, None] @ zeta)[:, 0]
        return gru_gates(word_gates + self.context_gates(c), self.state_gates(s), s), c, a

    def decode_step(
        self, previous: Int[Tensor, " batch"], state: tuple[Tensor, ...]
    ) -> tuple[Float[Tensor, "batch target"], DecoderState]:
        """Log-probabilities of the next token, and the state after the previous one."""
        before, y = DecoderState(*state), self.target_embedding(previous)
        s, c, _ = self.attend(self.word_gates(y), before)
        return self.output(self.features(s, c, y)).log_softmax(-1), before._replace(s=s)

    def features(self, s: Tensor, c: Tensor, y: Tensor) -> Tensor:
        """tanh(R [s, c, E y])."""
        return self.readout(torch.cat([s, c, y], -1)).tanh()


def attention(
    scores: Float[Tensor, "batch m"], mask: Bool[Tensor, "batch m"]
) -> Float[Tensor, "batch m"]:
    """a_j = softmax_j over the words only; the mask is True at words."""
    return F.softmax(scores.masked_fill(~mask, -torch.inf), 1)


def gru_gates(
    x: Float[Tensor, "batch gates"], h: Float[Tensor, "batch gates"], s: Float[Tensor, "batch w"]
) -> Float[Tensor, "batch w"]:
    """z ⊙ s + (1 - z) ⊙ tanh(x_n + r ⊙ h_n), r = σ(x_r + h_r), z = σ(x_z + h_z)."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = x.chunk(3, 1), h.chunk(3, 1)
    z = torch.sigmoid(x_z + h_z)
    return z * s + (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)


def example() -> tuple[Bahdanau, Tensor]:
    """Seven tokens of each language, eight units, and five sentences of six tokens."""
    return Bahdanau(7, 7, 4, 8), torch.randint(1, 7, (5, 6))

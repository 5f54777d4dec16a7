"""Attention: the decoder looks back at the words of the sentence, most at those it needs now.

    ζ_j = [→ζ_j, ←ζ_j]                               a GRU reads the sentence both ways
    a_ij = softmax_j(vᵀ tanh(W s_{i-1} + U ζ_j))     how much word j matters for step i
    c_i = Σ_j a_ij ζ_j                               the context
    s_i = GRU(s_{i-1}, [E y_{i-1}, c_i]),   s_0 = tanh(W_0 ←ζ_1)
    p(y_i | x, y_1 … y_{i-1}) = softmax(V tanh(R [s_i, c_i, E y_{i-1}]))

No sentence must pass through one vector any more, and a is an alignment of the two sentences.
Token 0 is padding; it is never attended to.

Bahdanau, Cho and Bengio (2015), ICLR. Notes: J 5.3.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.gru import GRU
from chainrule.models.recurrent.seq2seq import PADDING, Fed, lengths_of, without_empty_steps
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize
from chainrule.nn.sequences import turned_round


class Read(NamedTuple):
    """A sentence that was read: the decoder's state, ζ, U ζ, and where there are words."""

    s: Float[Tensor, "batch width"]
    zeta: Float[Tensor, "batch m both"]
    keys: Float[Tensor, "batch m a"]
    words: Bool[Tensor, "batch m"]


class Bahdanau(nn.Module):
    """Tokens of one language → tokens of another."""

    def __init__(
        self,
        source: int,
        target: int,
        embedding: int = 256,
        width: int = 256,
        dropout: float = 0.0,
    ):
        super().__init__()
        if source < 2 or target < 2 or embedding < 1:
            raise InputError(
                "a translator needs two tokens of each language and an embedding, got "
                f"{source}, {target} and {embedding}"
            )
        self.rate, self.width = dropout, width
        self.source = nn.Embedding(source, embedding, PADDING)
        self.target = nn.Embedding(target, embedding, PADDING)
        self.forwards, self.backwards = GRU(embedding, width), GRU(embedding, width)
        self.start = initialize(nn.Linear(width, width), "lecun")
        self.key = initialize(nn.Linear(2 * width, width), "lecun")
        self.query = initialize(nn.Linear(width, width, bias=False), "lecun")
        self.score = initialize(nn.Linear(width, 1, bias=False), "lecun")
        self.word_gates = initialize(nn.Linear(embedding, 3 * width), "lecun")
        self.context_gates = initialize(nn.Linear(2 * width, 3 * width, bias=False), "lecun")
        self.state_gates = initialize(nn.Linear(width, 3 * width), "lecun")
        self.readout = initialize(nn.Linear(3 * width + embedding, embedding), "lecun")
        self.output = initialize(nn.Linear(embedding, target), "lecun")

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n target"]:
        """Logits of y_1 … y_n, given y_0 … y_{n-1}."""
        return self.output(self.hidden(source, previous))

    def hidden(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n embedding"]:
        """What V is applied to; steps after a padding token mean nothing."""
        return self.unroll(source, previous)[0]

    def alignment(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n shorter"]:
        """a_ij of every step i and word j; the words end with the longest sentence."""
        return self.unroll(source, previous)[1]

    def unroll(self, source: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """All steps with the true previous tokens."""
        s, zeta, keys, words = self.encode(source)
        y = dropped(self.target(previous), self.rate, self.training)
        states, contexts, weights = [], [], []
        for gates in self.word_gates(y).unbind(1):
            s, c, a = self.advance(gates, Read(s, zeta, keys, words))
            states.append(s)
            contexts.append(c)
            weights.append(a)
        t = self.read_out(torch.stack(states, 1), torch.stack(contexts, 1), y)
        return dropped(t, self.rate, self.training), torch.stack(weights, 1)

    def encode(self, source: Int[Tensor, "batch m"]) -> Read:
        """ζ and all that follows from it, once for every sentence."""
        trimmed = without_empty_steps(source)
        x = dropped(self.source(trimmed), self.rate, self.training)
        lengths = lengths_of(trimmed)
        forwards, _ = self.forwards(x)
        backwards = turned_round(self.backwards(turned_round(x, lengths))[0], lengths)
        zeta = torch.cat([forwards, backwards], 2)
        return Read(self.start(backwards[:, 0]).tanh(), zeta, self.key(zeta), trimmed != PADDING)

    def advance(self, gates: Tensor, read: Read) -> tuple[Tensor, Tensor, Tensor]:
        """(s_i, c_i, a_i) from s_{i-1} and the gates' share of E y_{i-1}."""
        s, zeta, keys, words = read
        a = attention(self.score(torch.tanh(keys + self.query(s)[:, None]))[:, :, 0], words)
        c = (a[:, None] @ zeta)[:, 0]
        return gru_gates(gates + self.context_gates(c), self.state_gates(s), s), c, a

    def step(
        self, previous: Int[Tensor, " batch"], state: tuple[Tensor, ...]
    ) -> tuple[Float[Tensor, "batch target"], tuple[Tensor, ...]]:
        """log p of the next token, and the state after the previous one."""
        y, (_, zeta, keys, words) = self.target(previous), state
        s, c, _ = self.advance(self.word_gates(y), Read(*state))
        return self.output(self.read_out(s, c, y)).log_softmax(-1), (s, zeta, keys, words)

    def read_out(self, s: Tensor, c: Tensor, y: Tensor) -> Tensor:
        """tanh(R [s, c, E y])."""
        return self.readout(torch.cat([s, c, y], -1)).tanh()


def attention(
    scores: Float[Tensor, "batch m"], words: Bool[Tensor, "batch m"]
) -> Float[Tensor, "batch m"]:
    """a_j = softmax_j, over the words only."""
    return F.softmax(scores.masked_fill(~words, -torch.inf), 1)


def gru_gates(
    x: Float[Tensor, "batch gates"], h: Float[Tensor, "batch gates"], s: Float[Tensor, "batch w"]
) -> Float[Tensor, "batch w"]:
    """z ⊙ s + (1 - z) ⊙ tanh(x_n + r ⊙ h_n), r = σ(x_r + h_r), z = σ(x_z + h_z)."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = x.chunk(3, 1), h.chunk(3, 1)
    z = torch.sigmoid(x_z + h_z)
    return z * s + (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)


def example() -> tuple[Fed, Tensor]:
    """Seven tokens of each language, eight units, and five sentences of six tokens."""
    return Fed(Bahdanau(7, 7, 4, 8)), torch.randint(1, 7, (5, 6))

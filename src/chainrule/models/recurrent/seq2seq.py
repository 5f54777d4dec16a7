"""Sequence to sequence: one network reads a sentence, another writes its translation.

    ζ = encoder(x_1 … x_m)                             its last state
    z_0 = ζ,   z_i = F(z_{i-1}, E y_{i-1})             the decoder
    p(y_i | x, y_1 … y_{i-1}) = softmax(W z_i + b)
    p(y | x) = Π_i p(y_i | x, y_1 … y_{i-1})

All that the decoder learns of the sentence is ζ, however long the sentence is. Encoder and decoder
are networks of the same cell, any of the chapter. In training the decoder is given the true
y_{i-1} (teacher forcing), so that all steps are computed together. Token 0 is padding.

Sutskever, Vinyals and Le (2014), NeurIPS; Cho et al. (2014), EMNLP. Notes: J 5.3.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.layers import network
from chainrule.models.recurrent.recurrent import Recurrent, State, parts, together
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize

PADDING = 0


class Seq2Seq(nn.Module):
    """Tokens of one language → tokens of another."""

    def __init__(
        self,
        source: int,
        target: int,
        cell: str = "gru",
        embedding: int = 256,
        width: int = 256,
        depth: int = 1,
        dropout: float = 0.0,
    ):
        super().__init__()
        if source < 2 or target < 2 or embedding < 1:
            raise InputError(
                "a translator needs two tokens of each language and an embedding, got "
                f"{source}, {target} and {embedding}"
            )
        self.rate = dropout
        self.source = nn.Embedding(source, embedding, PADDING)
        self.target = nn.Embedding(target, embedding, PADDING)
        self.encoder = network(cell, embedding, width, depth, dropout)
        self.decoder = network(cell, embedding, width, depth, dropout)
        self.output = initialize(nn.Linear(width, target), "lecun")

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n target"]:
        """Logits of y_1 … y_n, given y_0 … y_{n-1}."""
        return self.output(self.hidden(source, previous))

    def hidden(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n width"]:
        """z_1 … z_n; steps after a padding token mean nothing."""
        y = dropped(self.target(previous), self.rate, self.training)
        z, _ = self.decoder(y, self.encode(source))
        return dropped(z, self.rate, self.training)

    def encode(self, source: Int[Tensor, "batch m"]) -> State:
        """ζ, the encoder's state at the end of each sentence."""
        trimmed = without_empty_steps(source)
        x = dropped(self.source(trimmed), self.rate, self.training)
        return final_state(self.encoder, x, lengths_of(trimmed))

    def step(
        self, previous: Int[Tensor, " batch"], state: State
    ) -> tuple[Float[Tensor, "batch target"], State]:
        """log p of the next token, and the state after the previous one."""
        z, after = self.decoder(self.target(previous)[:, None], state)
        return self.output(z[:, 0]).log_softmax(-1), after


def final_state(
    network: Recurrent, x: Float[Tensor, "batch steps inputs"], lengths: Int[Tensor, " batch"]
) -> State:
    """Each row's state after its last step, read in pieces that end where a row ends.

    torch's kernels take rows of one length; packed rows of several take them ten times as long.
    """
    state: State | None = None
    kept: tuple[Tensor, ...] = ()
    done = 0
    for end in lengths.unique().tolist():
        _, state = network(x[:, done:end], state)
        going = [(lengths >= end).view(-1, *[1] * (new.ndim - 1)) for new in parts(state)]
        kept = tuple(
            torch.where(mask, new, old)
            for mask, new, old in zip(going, parts(state), kept or parts(state), strict=True)
        )
        done = end
    return together(kept)


def lengths_of(tokens: Int[Tensor, "batch steps"]) -> Int[Tensor, " batch"]:
    """Tokens of each row before its padding."""
    return (tokens != PADDING).sum(1)


def without_empty_steps(tokens: Int[Tensor, "batch steps"]) -> Int[Tensor, "batch shorter"]:
    """The rows up to the end of the longest: the rest is padding."""
    return tokens[:, : int(lengths_of(tokens).max())]


class Fed(nn.Module):
    """A translator asked for the words of its own source: one input, as the shared tests give."""

    def __init__(self, translator: nn.Module):
        super().__init__()
        self.translator = translator

    def forward(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n target"]:
        return self.translator(tokens, tokens)


def example() -> tuple[Fed, Tensor]:
    """Seven tokens of each language, eight units, and five sentences of six tokens."""
    return Fed(Seq2Seq(7, 7, "gru", 4, 8)), torch.randint(1, 7, (5, 6))

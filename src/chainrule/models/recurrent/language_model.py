"""Recurrent language model: guesses the next symbol from all before it.

    e_t = E x_t,   z_t = F(z_{t-1}, e_t),   p(x_{t+1} | x_1 … x_t) = softmax(W z_t + b)

F is any recurrent network of the chapter: layers stacked, or where the recurrence is linear in
residual blocks. Units are dropped between the layers and before W. A text is written by drawing
x_{t+1} from p, one symbol after another, with the state z as the only memory.

Mikolov et al. (2010), Interspeech; Graves (2013), Generating sequences with recurrent neural
networks. Notes: J 5 (autoregressive), J 5.3.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.models.recurrent.layers import network
from chainrule.models.recurrent.recurrent import State, parts
from chainrule.nn.decoding import sample
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize


class LanguageModel(nn.Module):
    """Symbols → their next ones."""

    def __init__(
        self,
        symbols: int,
        cell: str = "lstm",
        width: int = 256,
        depth: int = 1,
        embedding: int = 64,
        dropout: float = 0.0,
    ):
        super().__init__()
        if symbols < 2 or embedding < 1:
            raise InputError(
                f"a language model needs two symbols and an embedding, got {symbols}, {embedding}"
            )
        self.rate = dropout
        self.embedding = nn.Embedding(symbols, embedding)
        self.network = network(cell, embedding, width, depth, dropout)
        self.output = initialize(nn.Linear(width, symbols), "lecun")

    def forward(self, tokens: Int[Tensor, "batch steps"]) -> Float[Tensor, "batch steps symbols"]:
        """Logits of each next symbol, from a state that knows nothing."""
        return self.advance(tokens)[0]

    def advance(
        self, tokens: Int[Tensor, "batch steps"], state: State | None = None
    ) -> tuple[Float[Tensor, "batch steps symbols"], tuple[Tensor, ...]]:
        """Logits of each next symbol, and the state that goes with the next piece of the text."""
        z, after = self.network(self.embedding(tokens), state)
        return self.output(dropped(z, self.rate, self.training)), parts(after)

    @torch.no_grad()
    def write(
        self,
        prompt: Int[Tensor, " length"],
        number: int,
        temperature: float = 1.0,
        top_k: int = 0,
        generator: torch.Generator | None = None,
        top_p: float = 1.0,
        never: Sequence[int] = (),
    ) -> Int[Tensor, " number"]:
        """As many symbols after the prompt, drawn one by one; `never` are not written.

        temperature, top_k, top_p: see `draw`.
        """

        def next_logits(tokens: Tensor, state: State | None) -> tuple[Tensor, State]:
            logits, after = self.advance(tokens, state)
            logits[:, -1, list(never)] = -torch.inf
            return logits[:, -1], after

        def step(tokens: Tensor, state: State) -> tuple[Tensor, State]:
            return next_logits(tokens[:, None], state)

        logits, state = next_logits(prompt[None], None)
        return sample(step, logits, state, number, temperature, top_k, generator, top_p)[0]


def example() -> tuple[LanguageModel, Tensor]:
    """Seven symbols, two layers of eight units, and five texts of six symbols."""
    return LanguageModel(7, "gru", 8, depth=2, embedding=4), torch.randint(7, (5, 6))

"""Transformer: an encoder reads a sentence, a decoder writes its translation.

    encoder   ξ ← √d E x + p,    L times   ξ ← ξ + A(ξ),   ξ ← ξ + F(ξ)
    decoder   y ← √d E y + p,    L times   y ← y + A(y),   y ← y + C(y, ξ),   y ← y + F(y)
    p(y_{t+1} | y_1 … y_t, x) = softmax(E y_t)

A is self-attention (in the decoder of the past only), C attention to the encoder's output, F a
network at each position; a norm stands behind each sum (post) or before each of A, C and F, and at
the very end (pre). Positions p are sinusoidal. E, also the last map, is one matrix: of source and
target alike if they have one vocabulary. The default sizes are the paper's base model. Token 0 is
padding and is never attended to.

Vaswani et al. (2017), NeurIPS; Xiong et al. (2020), ICML, for pre-norm. Notes: J 6.4, A 2.6,
L "Complete Transformer Architecture".
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.nn.attention import CrossAttention, Memory, SelfAttention, padding_mask
from chainrule.nn.decoding import Ends, beam_search, greedy
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.positions import frequencies, sinusoidal
from chainrule.nn.profile import evaluating
from chainrule.nn.transformer_block import Block, FeedForward, Skip

PADDING = 0
Steps = Float[Tensor, "batch steps width"]
State = tuple[tuple[Memory, ...], Tensor, tuple[Memory, ...]]
"""What each layer remembers of the source, where that has words, and what it wrote so far."""


class Transformer(nn.Module):
    """Sentences and the beginnings of their translations → the logits of every next token."""

    def __init__(
        self,
        source: int,
        target: int | None = None,
        width: int = 512,
        depth: int = 6,
        heads: int = 8,
        hidden: int = 2048,
        dropout: float = 0.1,
        norm: str = "post",
    ):
        """source, target: how many tokens; without a target, one vocabulary for both."""
        super().__init__()
        written = source if target is None else target
        if min(source, written) < 2 or min(depth, hidden) < 1:
            raise InputError(
                "a Transformer needs vocabularies of two tokens or more, a layer and a hidden "
                f"unit, got {source} and {written} tokens, {depth} layers and {hidden} units"
            )
        frequencies(width)  # positions need pairs
        self.rate = dropout
        self.target = embedding(written, width)
        self.source = None if target is None else embedding(source, width)
        self.encoder = nn.ModuleList(
            Block(width, heads, hidden, norm, F.relu, dropout) for _ in range(depth)
        )
        self.decoder = nn.ModuleList(
            DecoderBlock(width, heads, hidden, norm, dropout) for _ in range(depth)
        )
        last = norm == "pre"
        self.encoder_norm = nn.LayerNorm(width) if last else nn.Identity()
        self.decoder_norm = nn.LayerNorm(width) if last else nn.Identity()

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"] | None = None
    ) -> Float[Tensor, "batch n symbols"]:
        """Logits of y_1 … y_n, given y_0 … y_{n-1}; without those, of the source's own words."""
        return self.output(self.decoded(source, source if previous is None else previous))

    def hidden(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n width"]:
        """What E is applied to; columns of the source that hold padding only cost nothing."""
        return self.decoded(without_empty_steps(source), previous)

    def output(self, y: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch symbols"]:
        """E y."""
        return F.linear(y, self.target.weight)

    def decoded(self, source: Tensor, previous: Tensor) -> Tensor:
        xi, mask = self.read(source), words(source)
        y = self.embedded(self.target, previous)
        for block in self.decoder:
            y = block(y, xi, mask)
        return self.decoder_norm(y)

    def read(self, source: Int[Tensor, "batch m"]) -> Float[Tensor, "batch m width"]:
        """ξ of every token, from the whole sentence."""
        table = self.target if self.source is None else self.source
        xi, mask = self.embedded(table, source), words(source)
        for block in self.encoder:
            xi = block(xi, mask)
        return self.encoder_norm(xi)

    def embedded(self, table: nn.Embedding, tokens: Tensor, start: int = 0) -> Tensor:
        """√d E x + p."""
        e = table(tokens) * math.sqrt(table.embedding_dim)
        p = sinusoidal(tokens.shape[1], table.embedding_dim, start, like=e)
        return dropped(e + p, self.rate, self.training)

    def encode(self, source: Int[Tensor, "batch m"]) -> State:
        """Keys and values of the sentence for every layer, where its words are, nothing written."""
        source = without_empty_steps(source)
        xi = self.read(source)
        memories = tuple(block.cross.read(xi) for block in self.decoder)  # type: ignore[union-attr, operator]
        return memories, words(source), ()

    def step(
        self, previous: Int[Tensor, " batch"], state: State
    ) -> tuple[Float[Tensor, "batch symbols"], State]:
        """log p of the next token, and the state after the previous one: each is computed once."""
        sources, mask, before = state
        y = self.embedded(self.target, previous[:, None], before[0][0].shape[2] if before else 0)
        after = []
        for number, (block, source) in enumerate(zip(self.decoder, sources, strict=True)):
            memory = before[number] if before else None
            y, remembered = block.advance(y, memory, source, mask)  # type: ignore[operator]
            after.append(remembered)
        logits = self.output(self.decoder_norm(y[:, 0]))
        return logits.log_softmax(-1), (sources, mask, tuple(after))

    @torch.no_grad()
    def translate(
        self, source: Int[Tensor, "batch m"], ends: Ends, beam: int = 1
    ) -> Int[Tensor, "batch length"]:
        """The likeliest token each time, or the best of a beam of that width."""
        with evaluating(self):
            state, device = self.encode(source), source.device
            if beam == 1:
                return greedy(self.step, state, len(source), ends, device)
            return beam_search(self.step, state, len(source), ends, beam, device=device)


class DecoderBlock(nn.Module):
    """Attention to what is written, attention to what was read, a network at each position."""

    def __init__(self, width: int, heads: int, hidden: int, norm: str, dropout: float):
        super().__init__()
        self.norm_1, self.norm_2, self.norm_3 = (Skip(width, norm, dropout) for _ in range(3))
        self.attention = SelfAttention(width, heads)
        self.cross = CrossAttention(width, heads)
        self.feed_forward = FeedForward(width, hidden, F.relu)

    def forward(
        self,
        y: Float[Tensor, "batch n width"],
        xi: Float[Tensor, "batch m width"],
        mask: Bool[Tensor, "batch 1 1 m"],
    ) -> Float[Tensor, "batch n width"]:
        return self.advance(y, None, self.cross.read(xi), mask)[0]

    def advance(
        self, y: Steps, before: Memory | None, source: Memory, mask: Tensor
    ) -> tuple[Steps, Memory]:
        f, after = self.attention.advance(self.norm_1.before(y), before)
        y = self.norm_1.after(y, f)
        y = self.norm_2.after(y, self.cross(self.norm_2.before(y), source, mask))
        return self.norm_3.after(y, self.feed_forward(self.norm_3.before(y))), after


def words(tokens: Int[Tensor, "batch steps"]) -> Bool[Tensor, "batch 1 1 steps"]:
    """True but for padding, for all heads and queries."""
    return padding_mask(tokens != PADDING)


def without_empty_steps(tokens: Int[Tensor, "batch steps"]) -> Int[Tensor, "batch shorter"]:
    """The columns up to the last that holds a word."""
    used = (tokens != PADDING).any(0).nonzero()
    return tokens[:, : int(used[-1]) + 1 if len(used) else 1]


def embedding(symbols: int, width: int) -> nn.Embedding:
    """E with entries of variance 1/d: then √d E x and E y both have entries of variance 1."""
    table = nn.Embedding(symbols, width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


def example() -> tuple[Transformer, Tensor]:
    """One vocabulary of seven tokens, two layers of two heads, five sentences of six tokens."""
    model = Transformer(7, width=8, depth=2, heads=2, hidden=16, dropout=0.0)
    return model, torch.randint(1, 7, (5, 6))

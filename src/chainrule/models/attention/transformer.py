"""Transformer: an encoder reads a sentence, a decoder generates its translation.

    encoder   ξ ← √d E x + p,    L times   ξ ← ξ + A(ξ),   ξ ← ξ + F(ξ)
    decoder   y ← √d E y + p,    L times   y ← y + A(y),   y ← y + C(y, ξ),   y ← y + F(y)
    p(y_{t+1} | y_1 … y_t, x) = softmax(E y_t)

A is self-attention (causal in the decoder), C cross-attention to the encoder's output, F a
feed-forward network at each position. Norms follow each sum (post-norm) or precede each of A, C and
F, with one more after the last block (pre-norm). Positions p are sinusoidal. The embedding matrix
E is also the output map, and source and target share it if they have one vocabulary. The default
sizes are the paper's base model. Token 0 is padding and is never attended to.

Vaswani et al. (2017), NeurIPS; Xiong et al. (2020), ICML, for pre-norm. Notes: J 6.4, A 2.6,
L "Complete Transformer Architecture".
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.errors import InputError
from chainrule.nn.attention import KVCache
from chainrule.nn.attention_masks import padding_mask
from chainrule.nn.decoding import DecodingConfig, beam_search, greedy
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.positions import frequencies, sinusoidal
from chainrule.nn.profile import evaluating
from chainrule.nn.transformer_block import (
    PostNormBlock,
    PostNormDecoderBlock,
    PreNormBlock,
    PreNormDecoderBlock,
)
from chainrule.shares import longest

PADDING = 0
BLOCKS = {
    "pre": (PreNormBlock, PreNormDecoderBlock),
    "post": (PostNormBlock, PostNormDecoderBlock),
}


class DecoderState(NamedTuple):
    """What decoding carries along; the caches hold one entry per block."""

    source: tuple[KVCache, ...]
    mask: Bool[Tensor, "batch 1 1 m"]
    kv_caches: tuple[KVCache, ...]


@checked
class Transformer(nn.Module):
    """A source sentence and a prefix of its translation → logits of the next token.

        ξ ← √d E x + p,    L times   ξ ← ξ + A(ξ),   ξ ← ξ + F(ξ)
        y ← √d E y + p,    L times   y ← y + A(y),   y ← y + C(y, ξ),   y ← y + F(y)
        p(y_{t+1} | y_1 … y_t, x) = softmax(E y_t)

    Args:
        source_vocab_size: Number of tokens in the source vocabulary.
        target_vocab_size: The same for the target; by default both share one vocabulary.
        hidden_size: Size d of the vector of a token, an even number.
        num_layers: Number of blocks of the encoder and of the decoder, L.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        feed_forward_size: Size of the layer inside F.
        dropout: Dropout probability of the embeddings and of A(·), C(·, ξ) and F(·).
        norm: "post" for x ← N(x + A(x)), "pre" for x ← x + A(N(x)).

    Example:
        >>> import torch
        >>> from chainrule.models.attention import Transformer
        >>> model = Transformer(90, 80, hidden_size=32, num_layers=2, num_heads=4, norm="pre")
        >>> source, prefix = torch.randint(1, 90, (3, 12)), torch.randint(1, 80, (3, 5))
        >>> model(source, prefix).shape
        torch.Size([3, 5, 80])
    """

    def __init__(
        self,
        source_vocab_size: TwoOrMore,
        target_vocab_size: TwoOrMore | None = None,
        hidden_size: Count = 512,
        num_layers: Count = 6,
        num_heads: Count = 8,
        feed_forward_size: Count = 2048,
        dropout: Rate = 0.1,
        norm: str = "post",
    ):
        super().__init__()
        target = source_vocab_size if target_vocab_size is None else target_vocab_size
        if norm not in BLOCKS:
            raise InputError(f'norm must be "pre" or "post", got {norm!r}')
        frequencies(hidden_size)  # raises if hidden_size is odd
        self.dropout = dropout
        self.target_embedding = embedding(target, hidden_size)
        self.source_embedding = (
            None if target_vocab_size is None else embedding(source_vocab_size, hidden_size)
        )
        encoder_block, decoder_block = BLOCKS[norm]
        sizes = hidden_size, num_heads, feed_forward_size, F.relu, dropout
        self.encoder = nn.ModuleList(encoder_block(*sizes) for _ in range(num_layers))
        self.decoder = nn.ModuleList(decoder_block(*sizes) for _ in range(num_layers))
        self.encoder_norm = nn.LayerNorm(hidden_size) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(hidden_size) if norm == "pre" else nn.Identity()

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"] | None = None
    ) -> Float[Tensor, "batch n vocab"]:
        """Logits of y_1 … y_n given `previous`, y_0 … y_{n-1}; by default the source itself."""
        return self.output(self.decode(source, source if previous is None else previous))

    def hidden(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n hidden"]:
        """The y to which E is applied; columns of the source that are all padding are dropped."""
        return self.decode(trim_padding(source), previous)

    def output(self, y: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch vocab"]:
        """E y."""
        return F.linear(y, self.target_embedding.weight)

    def encoder_output(self, source: Int[Tensor, "batch m"]) -> Float[Tensor, "batch m hidden"]:
        """ξ of every source token."""
        table = self.target_embedding if self.source_embedding is None else self.source_embedding
        xi, mask = self.embed(table, source), word_mask(source)
        for block in self.encoder:
            xi = block(xi, mask)
        return self.encoder_norm(xi)

    def decode(self, source: Tensor, previous: Tensor) -> Tensor:
        """y of all positions, the true previous tokens being given."""
        xi, mask = self.encoder_output(source), word_mask(source)
        y = self.embed(self.target_embedding, previous)
        for block in self.decoder:
            y = block(y, block.cross_attention.project_source(xi), mask)  # type: ignore[union-attr, operator]
        return self.decoder_norm(y)

    def embed(self, table: nn.Embedding, tokens: Tensor, start: int = 0) -> Tensor:
        """√d E x + p, from position `start` on."""
        e = table(tokens) * math.sqrt(table.embedding_dim)
        p = sinusoidal(tokens.shape[1], table.embedding_dim, start, like=e)
        return dropped(e + p, self.dropout, self.training)

    def encode(self, source: Int[Tensor, "batch m"]) -> DecoderState:
        """The state before the first token: keys and values of ξ for every decoder block."""
        source = trim_padding(source)
        xi = self.encoder_output(source)
        keys_values = tuple(block.cross_attention.project_source(xi) for block in self.decoder)  # type: ignore[union-attr, operator]
        return DecoderState(keys_values, word_mask(source), ())

    def decode_step(
        self, previous: Int[Tensor, " batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], DecoderState]:
        """log p of the next token given the previous one and the state, and the new state."""
        source, mask, kv_caches = state
        start = kv_caches[0].length if kv_caches else 0
        y = self.embed(self.target_embedding, previous[:, None], start)
        updated = []
        for block, keys_values, kv_cache in zip(
            self.decoder, source, kv_caches or [None] * len(self.decoder), strict=True
        ):
            y, kv_cache = block.decode_step(y, kv_cache, keys_values, mask)  # type: ignore[operator]
            updated.append(kv_cache)
        logits = self.output(self.decoder_norm(y[:, 0]))
        return logits.log_softmax(-1), DecoderState(source, mask, tuple(updated))

    @torch.no_grad()
    def translate(
        self, source: Int[Tensor, "batch m"], config: DecodingConfig, beam_size: int = 1
    ) -> Int[Tensor, "batch length"]:
        """The translations found by greedy decoding, or by beam search."""
        with evaluating(self):
            state, device = self.encode(source), source.device
            if beam_size == 1:
                return greedy(self.decode_step, state, len(source), config, device)
            return beam_search(
                self.decode_step, state, len(source), config, beam_size, device=device
            )


def word_mask(tokens: Int[Tensor, "batch steps"]) -> Bool[Tensor, "batch 1 1 steps"]:
    """False at padding, for all heads and queries."""
    return padding_mask(tokens != PADDING)


def trim_padding(tokens: Int[Tensor, "batch steps"]) -> Int[Tensor, "batch shorter"]:
    """The columns up to the last one that holds a word."""
    used = (tokens != PADDING).any(0).nonzero()
    return tokens[:, : longest(int(used[-1]) + 1 if len(used) else 1)]


def embedding(vocab_size: int, hidden_size: int) -> nn.Embedding:
    """E with entries of variance 1/d, so that √d E x and E y have entries of variance 1."""
    table = nn.Embedding(vocab_size, hidden_size)
    nn.init.normal_(table.weight, std=hidden_size**-0.5)
    return table


def example() -> tuple[Transformer, Tensor]:
    """A shared vocabulary of seven tokens, two layers of two heads, five sentences of six."""
    model = Transformer(
        7, hidden_size=8, num_layers=2, num_heads=2, feed_forward_size=16, dropout=0.0
    )
    return model, torch.randint(1, 7, (5, 6))

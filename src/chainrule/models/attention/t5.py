"""T5: every task is text to text; an encoder-decoder with relative positions.

    A_ts ∝ exp(q_t · k_s + b_{β(s - t)})               b is learned, one number per bucket and head
    x ← x + A(N(x)),   [y ← y + C(N(y), ξ)],   x ← x + W_2 relu(W_1 N(x)),     N(x) = g ⊙ x / rms(x)
    p(y_{t+1} | y_1 … y_t, x) = softmax(E N(y_t) / √d)

β maps offsets to 32 buckets: near ones have their own, far ones share one by the logarithm of the
distance, and all beyond 128 share the last. The first block of the encoder and of the decoder holds
b for all its blocks; cross-attention has none. Nothing has a bias, scores are not divided by √d_k,
and E is shared by encoder, decoder and output. Token 0 is padding and also begins every output.

Raffel et al. (2020), JMLR 21(140). Notes: L "Transformer Impact, Extensions and Limitations" (T5),
J 6.4.
"""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.nn.attention import KVCache, MultiHeadAttention, split_heads
from chainrule.nn.attention_masks import causal_mask, padding_mask
from chainrule.nn.dropout import dropout as dropped

PADDING = 0
EPS = 1e-6  # of the RMS norm
BUCKETS, MAX_DISTANCE = 32, 128
NEIGHBOR_BIAS = 4.0  # of `initialize_neighbor_heads`


class DecoderState(NamedTuple):
    """What decoding carries along: keys and values of ξ, their padding, and those of the output."""

    source: tuple[KVCache, ...]
    padding: Float[Tensor, "batch 1 1 m"]
    kv_caches: tuple[KVCache, ...]


@checked
class T5(nn.Module):
    """A text and a prefix of its output → logits of the next token.

        A_ts ∝ exp(q_t · k_s + b_{β(s - t)}),     N(x) = g ⊙ x / rms(x)
        p(y_{t+1} | y_1 … y_t, x) = softmax(E N(y_t) / √d)

    Args:
        vocab_size: Number of tokens, sentinels included.
        hidden_size: Size d of the vector of a token.
        num_layers: Number of blocks of the encoder and of the decoder.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        feed_forward_size: Size of the layer between W_1 and W_2.
        dropout: Dropout probability of the embeddings and of what each layer adds.

    Example:
        >>> import torch
        >>> from chainrule.models.attention import T5
        >>> model = T5(90, hidden_size=32, num_layers=2, num_heads=4, feed_forward_size=64)
        >>> source, prefix = torch.randint(1, 90, (3, 12)), torch.randint(1, 90, (3, 5))
        >>> model(source, prefix).shape
        torch.Size([3, 5, 90])
    """

    def __init__(
        self,
        vocab_size: TwoOrMore,
        hidden_size: Count = 512,
        num_layers: Count = 6,
        num_heads: Count = 8,
        feed_forward_size: Count = 2048,
        dropout: Rate = 0.1,
    ):
        super().__init__()
        self.dropout = dropout
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        sizes = hidden_size, num_heads, feed_forward_size, dropout
        self.encoder = nn.ModuleList(T5Block(*sizes) for _ in range(num_layers))
        self.decoder = nn.ModuleList(T5Block(*sizes, cross=True) for _ in range(num_layers))
        self.encoder_bias = nn.Embedding(BUCKETS, num_heads)
        self.decoder_bias = nn.Embedding(BUCKETS, num_heads)
        self.encoder_norm = nn.RMSNorm(hidden_size, EPS)
        self.decoder_norm = nn.RMSNorm(hidden_size, EPS)
        for table in (self.encoder_bias, self.decoder_bias):
            nn.init.normal_(table.weight, std=hidden_size**-0.5)

    def forward(
        self, source: Int[Tensor, "batch m"], previous: Int[Tensor, "batch n"] | None = None
    ) -> Float[Tensor, "batch n vocab"]:
        """Logits of y_1 … y_n given `previous`, y_0 … y_{n-1}; by default the source itself."""
        state = self.encode(source)
        return self.decode(source if previous is None else previous, state)[0]

    def encode(self, source: Int[Tensor, "batch m"]) -> DecoderState:
        """Keys and values of ξ for every decoder block."""
        steps, x = source.shape[1], self.embed(source)
        padding = additive(padding_mask(source != PADDING), like=x)
        bias = padding + relative_bias(self.encoder_bias, steps, steps, bidirectional=True)
        for block in self.encoder:
            x, _ = block(x, bias)
        xi = dropped(self.encoder_norm(x), self.dropout, self.training)
        source_caches = tuple(block.cross_attention.keys_values(xi) for block in self.decoder)  # type: ignore[union-attr, operator]
        return DecoderState(source_caches, padding, ())

    def decode(
        self, previous: Int[Tensor, "batch n"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch n vocab"], DecoderState]:
        """Logits of the next n tokens, and the state that includes them."""
        n = previous.shape[1]
        keys = n + (state.kv_caches[0].length if state.kv_caches else 0)
        y, updated = self.embed(previous), []
        bias = additive(causal_mask(n, keys, y.device), like=y)
        bias = bias + relative_bias(self.decoder_bias, n, keys, bidirectional=False)
        for number, block in enumerate(self.decoder):
            before = state.kv_caches[number] if state.kv_caches else None
            y, kv_cache = block(y, bias, before, state.source[number], state.padding)
            updated.append(kv_cache)
        y = dropped(self.decoder_norm(y), self.dropout, self.training)
        logits = F.linear(y, self.embedding.weight) / math.sqrt(y.shape[2])
        return logits, state._replace(kv_caches=tuple(updated))

    def decode_step(
        self, previous: Int[Tensor, " batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], DecoderState]:
        """log p of the next token given the previous one and the state, and the new state."""
        logits, state = self.decode(previous[:, None], DecoderState(*state))
        return logits[:, 0].log_softmax(-1), state

    def embed(self, tokens: Int[Tensor, "batch n"]) -> Float[Tensor, "batch n hidden"]:
        """E x."""
        return dropped(self.embedding(tokens), self.dropout, self.training)

    @torch.no_grad()
    def initialize_neighbor_heads(self) -> None:
        """Let heads start by attending to neighbors, and a sentinel to its blank.

        Encoder heads attend to the offsets -1, +1, -2, +2, …, decoder heads to 0, -1, -2, …, by a
        larger b. In cross-attention W_Q = W_K / √d_k, so a token attends to itself in the source.
        """
        heads = torch.arange(self.encoder_bias.embedding_dim)
        neighbor = (heads // 2 + 1) * (2 * (heads % 2) - 1)
        self.encoder_bias.weight[bucket(neighbor[None], True)[0], heads] += NEIGHBOR_BIAS
        self.decoder_bias.weight[bucket(-heads[None], False)[0], heads] += NEIGHBOR_BIAS
        for block in self.decoder:
            cross = block.cross_attention
            assert isinstance(cross, T5Attention)
            cross.query.weight.copy_(cross.key.weight / math.sqrt(cross.key_size))


class T5Attention(MultiHeadAttention):
    """Heads of weights A_ts ∝ exp(q_t · k_s + b_ts), without biases and without 1/√d_k."""

    def __init__(self, hidden_size: int, num_heads: int):
        super().__init__(hidden_size, num_heads)
        self.query, self.key, self.value, self.output = (
            nn.Linear(hidden_size, hidden_size, bias=False) for _ in range(4)
        )
        nn.init.normal_(self.query.weight, std=(hidden_size * self.key_size) ** -0.5)
        for layer in (self.key, self.value, self.output):
            nn.init.normal_(layer.weight, std=hidden_size**-0.5)

    def forward(self, x: Tensor, kv: KVCache, bias: Tensor) -> Tensor:
        """Ξ W of queries from x, with b added to the scores."""
        # Not torch's kernel: it has no derivative by the bias where many networks learn at once.
        return self.join_heads(self.attention_weights(x, kv, bias) @ kv.values)

    def attention_weights(self, x: Tensor, kv: KVCache, bias: Tensor) -> Tensor:
        """A of every head."""
        (q,) = split_heads(self.query(x), self.num_heads, self.key_size)
        return (q @ kv.keys.mT + bias).softmax(-1)

    def keys_values(self, x: Tensor, before: KVCache | None = None) -> KVCache:
        """Keys and values of x, after those of earlier tokens."""
        (k,) = split_heads(self.key(x), self.num_heads, self.key_size)
        (v,) = split_heads(self.value(x), self.num_heads, self.value_size)
        if before is None:
            return KVCache(k, v)
        return KVCache(torch.cat([before.keys, k], 2), torch.cat([before.values, v], 2))


class T5Block(nn.Module):
    """x ← x + A(N(x)),   [x ← x + C(N(x), ξ)],   x ← x + W_2 relu(W_1 N(x))."""

    def __init__(
        self, hidden_size: int, num_heads: int, inner_size: int, dropout: float, cross: bool = False
    ):
        super().__init__()
        self.dropout = dropout
        self.norm_1, self.norm_3 = (nn.RMSNorm(hidden_size, EPS) for _ in range(2))
        self.norm_2 = nn.RMSNorm(hidden_size, EPS) if cross else None
        self.attention = T5Attention(hidden_size, num_heads)
        self.cross_attention = T5Attention(hidden_size, num_heads) if cross else None
        self.inner = nn.Linear(hidden_size, inner_size, bias=False)
        self.outer = nn.Linear(inner_size, hidden_size, bias=False)
        for layer in (self.inner, self.outer):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)

    def forward(
        self,
        x: Tensor,
        bias: Tensor,
        before: KVCache | None = None,
        source: KVCache | None = None,
        padding: Tensor | None = None,
    ) -> tuple[Tensor, KVCache]:
        """The block's output, and keys and values of x after those `before` it."""
        h = self.norm_1(x)
        kv_cache = self.attention.keys_values(h, before)
        x = x + self.drop(self.attention(h, kv_cache, bias))
        if self.cross_attention is not None and self.norm_2 is not None:
            x = x + self.drop(self.cross_attention(self.norm_2(x), source, padding))
        inner = self.drop(self.inner(self.norm_3(x)).relu())
        return x + self.drop(self.outer(inner)), kv_cache

    def drop(self, x: Tensor) -> Tensor:
        return dropped(x, self.dropout, self.training)


def relative_bias(table: nn.Embedding, queries: int, keys: int, bidirectional: bool) -> Tensor:
    """b_{β(s - t)}, (1, heads, queries, keys); the queries are the last of the keys."""
    positions = torch.arange(keys, device=table.weight.device)
    offset = positions - positions[keys - queries :, None]
    return table(bucket(offset, bidirectional)).movedim(2, 0)[None]


def bucket(offset: Int[Tensor, "queries keys"], bidirectional: bool) -> Int[Tensor, "queries keys"]:
    """β(s - t); bidirectional: half of the buckets are for keys to the right of the query."""
    buckets = BUCKETS // 2 if bidirectional else BUCKETS
    distance = offset.abs() if bidirectional else (-offset).clamp_min(0)
    exact = buckets // 2
    growth = (distance.clamp_min(1) / exact).log() / math.log(MAX_DISTANCE / exact)
    far = (exact + (growth * (buckets - exact)).long()).clamp_max(buckets - 1)
    found = torch.where(distance < exact, distance, far)
    return found + buckets * (offset > 0) if bidirectional else found


def additive(mask: Bool[Tensor, "batch 1 queries keys"], like: Tensor) -> Tensor:
    """0 where the mask is True, elsewhere the smallest number of the type of `like`."""
    zeros = torch.zeros(mask.shape, dtype=like.dtype, device=mask.device)
    return zeros.masked_fill(~mask, torch.finfo(like.dtype).min)


def example() -> tuple[T5, Tensor]:
    """Seven tokens, two layers of two heads, five texts of six."""
    model = T5(7, hidden_size=8, num_layers=2, num_heads=2, feed_forward_size=16, dropout=0.0)
    return model, torch.randint(1, 7, (5, 6))

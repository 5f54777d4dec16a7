"""Transformer blocks: attention, then a feed-forward network at every position.

    pre-norm    x ← x + A(N(x)),      x ← x + F(N(x))        Xiong et al. (2020): gradients of
                                                             similar size in all layers, no warm-up
    post-norm   x ← N(x + A(x)),      x ← N(x + F(x))        Vaswani et al. (2017)
    F(x) = W_2 φ(W_1 x + b_1) + b_2

N is layer normalization. A decoder block has cross-attention C(·, ξ) to the encoder's output
between the two. Dropout is applied to A(·), C(·, ξ) and F(·) before they are added, as in the
first paper. Notes: J 6.4, L "Complete Transformer Architecture".
"""

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from chainrule.arguments import Count, NonNegative, Rate, checked
from chainrule.nn.activations import Activation
from chainrule.nn.attention import CrossAttention, KVCache, SelfAttention
from chainrule.nn.dropout import dropout as dropped
from chainrule.nn.initialization import initialize

Hidden = Float[Tensor, "batch steps hidden"]
Mask = Bool[Tensor, "#batch 1 #steps #keys"]


@checked
class FeedForward(nn.Module):
    """W_2 φ(W_1 x + b_1) + b_2, the same at every position.

    Args:
        hidden_size: Size of x and of the output.
        feed_forward_size: Size of the layer between.
        activation: φ.
    """

    def __init__(self, hidden_size: Count, feed_forward_size: Count, activation: Activation):
        super().__init__()
        self.inner = initialize(nn.Linear(hidden_size, feed_forward_size), "xavier-uniform")
        self.outer = initialize(nn.Linear(feed_forward_size, hidden_size), "xavier-uniform")
        self.activation = activation

    def forward(self, x: Float[Tensor, "*batch hidden"]) -> Float[Tensor, "*batch hidden"]:
        return self.outer(self.activation(self.inner(x)))


@checked
class Block(nn.Module):
    """The layers of an encoder block; `PreNormBlock` and `PostNormBlock` connect them.

    Args:
        hidden_size: Size of the vectors of the sequence.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        feed_forward_size: Size of the layer inside F.
        activation: φ of F.
        dropout: Dropout probability of A(·) and F(·).
        eps: Added to the variance in N.
    """

    def __init__(
        self,
        hidden_size: Count,
        num_heads: Count,
        feed_forward_size: Count,
        activation: Activation = F.gelu,
        dropout: Rate = 0.0,
        eps: NonNegative = 1e-5,
    ):
        super().__init__()
        self.dropout = dropout
        self.norm_1 = nn.LayerNorm(hidden_size, eps)
        self.attention = SelfAttention(hidden_size, num_heads)
        self.norm_2 = nn.LayerNorm(hidden_size, eps)
        self.feed_forward = FeedForward(hidden_size, feed_forward_size, activation)

    def drop(self, x: Tensor) -> Tensor:
        return dropped(x, self.dropout, self.training)


@checked
class PreNormBlock(Block):
    """x ← x + A(N(x)),   x ← x + F(N(x)); the arguments are those of `Block`.

    Example:
        >>> import torch
        >>> from chainrule.nn.transformer_block import PreNormBlock
        >>> block = PreNormBlock(hidden_size=8, num_heads=2, feed_forward_size=32)
        >>> block(torch.randn(3, 5, 8), causal=True).shape
        torch.Size([3, 5, 8])
    """

    def forward(self, x: Hidden, mask: Mask | None = None, causal: bool = False) -> Hidden:
        x = x + self.drop(self.attention(self.norm_1(x), mask, causal))
        return x + self.drop(self.feed_forward(self.norm_2(x)))

    def decode_step(self, x: Hidden, kv_cache: KVCache | None) -> tuple[Hidden, KVCache]:
        """The next tokens of a causal sequence, and the cache that includes them."""
        attended, kv_cache = self.attention.decode_step(self.norm_1(x), kv_cache)
        x = x + self.drop(attended)
        return x + self.drop(self.feed_forward(self.norm_2(x))), kv_cache


@checked
class PostNormBlock(Block):
    """x ← N(x + A(x)),   x ← N(x + F(x)); the arguments are those of `Block`."""

    def forward(self, x: Hidden, mask: Mask | None = None, causal: bool = False) -> Hidden:
        x = self.norm_1(x + self.drop(self.attention(x, mask, causal)))
        return self.norm_2(x + self.drop(self.feed_forward(x)))


@checked
class DecoderBlock(nn.Module):
    """The layers of a decoder block; `PreNormDecoderBlock` and `PostNormDecoderBlock` connect them.

    Args:
        hidden_size: Size of the vectors of both sequences.
        num_heads: Number of attention heads, a divisor of `hidden_size`.
        feed_forward_size: Size of the layer inside F.
        activation: φ of F.
        dropout: Dropout probability of A(·), C(·, ξ) and F(·).
    """

    def __init__(
        self,
        hidden_size: Count,
        num_heads: Count,
        feed_forward_size: Count,
        activation: Activation = F.gelu,
        dropout: Rate = 0.0,
    ):
        super().__init__()
        self.dropout = dropout
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(hidden_size) for _ in range(3))
        self.attention = SelfAttention(hidden_size, num_heads)
        self.cross_attention = CrossAttention(hidden_size, num_heads)
        self.feed_forward = FeedForward(hidden_size, feed_forward_size, activation)

    def drop(self, x: Tensor) -> Tensor:
        return dropped(x, self.dropout, self.training)


@checked
class PreNormDecoderBlock(DecoderBlock):
    """y ← y + A(N(y)),   y ← y + C(N(y), ξ),   y ← y + F(N(y)); arguments as for `DecoderBlock`."""

    def forward(
        self, y: Hidden, source: KVCache, mask: Mask | None = None, causal: bool = True
    ) -> Hidden:
        """mask: of the source; causal: whether y attends to earlier positions of y only."""
        y = y + self.drop(self.attention(self.norm_1(y), causal=causal))
        y = y + self.drop(self.cross_attention(self.norm_2(y), source, mask))
        return y + self.drop(self.feed_forward(self.norm_3(y)))

    def decode_step(
        self, y: Hidden, kv_cache: KVCache | None, source: KVCache, mask: Mask | None = None
    ) -> tuple[Hidden, KVCache]:
        """The next tokens of y, and the cache that includes them."""
        attended, kv_cache = self.attention.decode_step(self.norm_1(y), kv_cache)
        y = y + self.drop(attended)
        y = y + self.drop(self.cross_attention(self.norm_2(y), source, mask))
        return y + self.drop(self.feed_forward(self.norm_3(y))), kv_cache


@checked
class PostNormDecoderBlock(DecoderBlock):
    """y ← N(y + A(y)),   y ← N(y + C(y, ξ)),   y ← N(y + F(y)); arguments as for `DecoderBlock`."""

    def forward(self, y: Hidden, source: KVCache, mask: Mask | None = None) -> Hidden:
        y = self.norm_1(y + self.drop(self.attention(y, causal=True)))
        y = self.norm_2(y + self.drop(self.cross_attention(y, source, mask)))
        return self.norm_3(y + self.drop(self.feed_forward(y)))

    def decode_step(
        self, y: Hidden, kv_cache: KVCache | None, source: KVCache, mask: Mask | None = None
    ) -> tuple[Hidden, KVCache]:
        """The next tokens of y, and the cache that includes them."""
        attended, kv_cache = self.attention.decode_step(y, kv_cache)
        y = self.norm_1(y + self.drop(attended))
        y = self.norm_2(y + self.drop(self.cross_attention(y, source, mask)))
        return self.norm_3(y + self.drop(self.feed_forward(y))), kv_cache


def normal_initialization(model: nn.Module, std: float = 0.02) -> None:
    """Weights of linear layers and embeddings from N(0, std²), biases zero, as in GPT and BERT."""
    for part in model.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=std)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)

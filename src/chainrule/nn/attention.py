"""Multi-head scaled dot-product attention.

    A   = softmax(Q Kᵀ / √d_k),     Ξ = A V                Q, K, V affine in the inputs
    MH  = [Ξ_1, …, Ξ_h] W + b                              h heads side by side, each of size d_v

d_k and d_v are free, as W maps h d_v numbers back to the size d of the vectors; by default both are
d / h.


The product q·k of independent unit normals has variance d; dividing by √d restores variance 1. In
self-attention Q, K and V come from one sequence; in cross-attention K and V come from another.
Masks are boolean, True = the query may attend to the key. A query that may attend to nothing gets
zeros, and its gradients are zero as well.

torch's fused kernel computes A V without storing A. Where A itself is wanted, `attention_weights`
returns it for one layer and `attention_maps` for all layers of a model.

Vaswani et al. (2017), NeurIPS. Notes: J 6.1 (whose sum of values has v_i for v_t), J 6.2, A 2.6.2
(which leaves out W), L "Attention", L "Multi-Head Attention and Attention Types".
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.errors import InputError
from chainrule.nn.attention_masks import combined_mask
from chainrule.nn.attention_scores import scaled_dot
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.fused_attention import fused_attention
from chainrule.nn.profile import evaluating


class KVCache(NamedTuple):
    """Keys and values of the tokens read so far, (batch, heads, steps, d) each."""

    keys: Tensor
    values: Tensor

    @property
    def length(self) -> int:
        """The number of tokens read so far."""
        return self.keys.shape[2]


@checked
class MultiHeadAttention(nn.Module):
    """The heads and the output map that every attention layer has.

    Args:
        hidden_size: Size of the vectors of a sequence.
        num_heads: Number of heads, a divisor of `hidden_size` unless both sizes are given.
        key_size: d_k, the size of a query and of a key of one head; by default d / h.
        value_size: d_v, the size of a value of one head; by default d / h.
    """

    attention_weights: Callable[..., Tensor]
    """A for the arguments of `forward`."""

    def __init__(
        self,
        hidden_size: Count,
        num_heads: Count,
        key_size: Count | None = None,
        value_size: Count | None = None,
    ):
        super().__init__()
        if hidden_size % num_heads and (key_size is None or value_size is None):
            raise InputError(
                "hidden_size must be a multiple of num_heads, got hidden_size "
                f"{hidden_size} and num_heads {num_heads}"
            )
        self.num_heads = num_heads
        self.key_size = key_size or hidden_size // num_heads
        self.value_size = value_size or hidden_size // num_heads
        joined = num_heads * self.value_size
        self.output = initialize(nn.Linear(joined, hidden_size), "xavier-uniform")

    def join_heads(
        self, heads: Float[Tensor, "batch heads steps d"]
    ) -> Float[Tensor, "batch steps hidden"]:
        """[Ξ_1, …, Ξ_h] W + b."""
        return self.output(heads.transpose(1, 2).flatten(2))


@checked
class SelfAttention(MultiHeadAttention):
    """Multi-head attention of a sequence to itself.

        MH(x) = [A_1 V_1, …, A_h V_h] W + b,     A_i = softmax(Q_i K_iᵀ / √d)

    Args:
        hidden_size: Size of the vectors of the sequence.
        num_heads: Number of heads, a divisor of `hidden_size` unless both sizes are given.
        key_size: d_k, the size of a query and of a key of one head; by default d / h.
        value_size: d_v, the size of a value of one head; by default d / h.

    Example:
        >>> import torch
        >>> from chainrule.nn.attention import SelfAttention
        >>> layer, x = SelfAttention(hidden_size=8, num_heads=2), torch.randn(3, 5, 8)
        >>> layer(x, causal=True).shape
        torch.Size([3, 5, 8])
        >>> layer.attention_weights(x, causal=True).shape
        torch.Size([3, 2, 5, 5])
    """

    def __init__(
        self,
        hidden_size: Count,
        num_heads: Count,
        key_size: Count | None = None,
        value_size: Count | None = None,
    ):
        super().__init__(hidden_size, num_heads, key_size, value_size)
        sizes = (num_heads * self.key_size,) * 2 + (num_heads * self.value_size,)
        self.projection = stacked_projection(hidden_size, *sizes)

    def forward(
        self,
        x: Float[Tensor, "batch steps hidden"],
        mask: Bool[Tensor, "#batch #heads #steps #steps"] | None = None,
        causal: bool = False,
    ) -> Float[Tensor, "batch steps hidden"]:
        """causal: each position attends to itself and to earlier positions only."""
        q, k, v = self.project(x)
        return self.join_heads(attention(q, k, v, mask, causal))

    def attention_weights(
        self,
        x: Float[Tensor, "batch steps hidden"],
        mask: Bool[Tensor, "#batch #heads #steps #steps"] | None = None,
        causal: bool = False,
    ) -> Float[Tensor, "batch heads steps steps"]:
        """A of every head."""
        q, k, _ = self.project(x)
        return attention_weights(q, k, mask, causal)

    def decode_step(
        self, x: Float[Tensor, "batch steps hidden"], kv_cache: KVCache | None = None
    ) -> tuple[Float[Tensor, "batch steps hidden"], KVCache]:
        """The output for the next tokens of a causal sequence, and the cache that includes them."""
        q, k, v = self.project(x)
        if kv_cache is not None:
            k, v = torch.cat([kv_cache.keys, k], 2), torch.cat([kv_cache.values, v], 2)
        return self.join_heads(attention(q, k, v, causal=True)), KVCache(k, v)

    def project(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Q, K and V, split into heads."""
        q, k, v = split_heads(
            self.projection(x), self.num_heads, self.key_size, self.key_size, self.value_size
        )
        return q, k, v


@checked
class CrossAttention(MultiHeadAttention):
    """Multi-head attention of one sequence to another.

        MH(x, ξ) = [A_1 V_1, …, A_h V_h] W + b,     Q from x,  K and V from ξ

    Args:
        hidden_size: Size of the vectors of the sequence that attends.
        num_heads: Number of heads, a divisor of `hidden_size`.
        source_size: Size of the vectors attended to; by default `hidden_size`.
        key_size: d_k, the size of a query and of a key of one head; by default d / h.
        value_size: d_v, the size of a value of one head; by default d / h.

    Example:
        >>> import torch
        >>> from chainrule.nn.attention import CrossAttention
        >>> layer = CrossAttention(hidden_size=8, num_heads=2, source_size=6)
        >>> source = layer.project_source(torch.randn(3, 7, 6))
        >>> layer(torch.randn(3, 5, 8), source).shape
        torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        hidden_size: Count,
        num_heads: Count,
        source_size: Count | None = None,
        key_size: Count | None = None,
        value_size: Count | None = None,
    ):
        super().__init__(hidden_size, num_heads, key_size, value_size)
        keys, values = num_heads * self.key_size, num_heads * self.value_size
        self.query = stacked_projection(hidden_size, keys)
        self.source = stacked_projection(source_size or hidden_size, keys, values)

    def project_source(self, source: Float[Tensor, "batch keys source_size"]) -> KVCache:
        """Keys and values of the sequence attended to, computed once for all queries."""
        projected = self.source(source)
        return KVCache(*split_heads(projected, self.num_heads, self.key_size, self.value_size))

    def forward(
        self,
        x: Float[Tensor, "batch queries hidden"],
        source: KVCache,
        mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    ) -> Float[Tensor, "batch queries hidden"]:
        (q,) = split_heads(self.query(x), self.num_heads, self.key_size)
        return self.join_heads(attention(q, source.keys, source.values, mask))

    def attention_weights(
        self,
        x: Float[Tensor, "batch queries hidden"],
        source: KVCache,
        mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    ) -> Float[Tensor, "batch heads queries keys"]:
        """A of every head."""
        (q,) = split_heads(self.query(x), self.num_heads, self.key_size)
        return attention_weights(q, source.keys, mask)


def attention(
    q: Float[Tensor, "batch heads queries d"],
    k: Float[Tensor, "batch heads keys d"],
    v: Float[Tensor, "batch heads keys values"],
    mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch heads queries values"]:
    """Ξ = softmax(Q Kᵀ / √d) V by the fused kernel."""
    if causal and mask is None and q.shape[2] == k.shape[2]:
        return fused_attention(q, k, v, None, causal=True)
    return fused_attention(q, k, v, combined_mask(mask, causal, q, k), causal=False)


def attention_weights(
    q: Float[Tensor, "batch heads queries d"],
    k: Float[Tensor, "batch heads keys d"],
    mask: Bool[Tensor, "#batch #heads #queries #keys"] | None = None,
    causal: bool = False,
) -> Float[Tensor, "batch heads queries keys"]:
    """A = softmax(Q Kᵀ / √d): rows of convex weights, or of zeros where no key is allowed."""
    scores = scaled_dot(q, k)
    allowed = combined_mask(mask, causal, q, k)
    if allowed is None:
        return scores.softmax(-1)
    # The smallest float instead of -∞: a row without allowed keys must not become 0/0.
    A = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)
    return A.masked_fill(~allowed, 0.0)


def attention_maps(
    model: nn.Module, *inputs: Shaped[Tensor, "..."]
) -> dict[str, Float[Tensor, "batch heads queries keys"]]:
    """A of every attention layer by its name, in the order of the forward pass."""
    maps: dict[str, Tensor] = {}

    def recorder(name: str) -> Callable[..., None]:
        def record(layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], _: Tensor) -> None:
            maps[name] = layer.attention_weights(*args, **kwargs)

        return record

    hooks = [
        layer.register_forward_hook(recorder(name), with_kwargs=True)
        for name, layer in model.named_modules()
        if isinstance(layer, MultiHeadAttention)
    ]
    try:
        with evaluating(model), torch.no_grad():
            model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return maps


def split_heads(x: Tensor, num_heads: int, *sizes: int) -> tuple[Tensor, ...]:
    """(batch, steps, heads · Σ sizes) → for each size d a tensor of (batch, heads, steps, d)."""
    parts = x.split([num_heads * d for d in sizes], 2)
    return tuple(part.unflatten(2, (num_heads, -1)).transpose(1, 2) for part in parts)


def stacked_projection(input_size: int, *output_sizes: int) -> nn.Linear:
    """Linear maps to several sizes in one layer, each with its own Xavier-uniform weights."""
    layer = nn.Linear(input_size, sum(output_sizes))
    for weight in layer.weight.detach().split(output_sizes):
        bound = math.sqrt(6 / (input_size + len(weight)))
        nn.init.uniform_(weight, -bound, bound)
    nn.init.zeros_(layer.bias)
    return layer

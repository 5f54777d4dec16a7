"""One token per row through a GPT, as fast as memory delivers the weights.

A step computes what the blocks' own `decode_step` computes, up to rounding, but

    keys and values are written into a cache of full length, instead of being copied at every step
    a product with a large matrix is oneDNN's, which uses all threads also for a single row, where
    the usual one is left to one thread; small ones stay with the usual product
    the weights are looked up once, so that a step calls no modules

`fits` says whether a model is of this form: pre-norm blocks on the CPU in single precision,
without hooks, replaced layers or autocast. Others take the blocks' own steps.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.nn.attention import KVCache, SelfAttention
from chainrule.nn.positions import LearnedPositions
from chainrule.nn.transformer_block import FeedForward, PreNormBlock

LARGE = 1 << 18  # numbers of a matrix from which oneDNN's product is the faster one
PARTS = (
    nn.Embedding,
    LearnedPositions,
    nn.ModuleList,
    PreNormBlock,
    SelfAttention,
    FeedForward,
    nn.Linear,
    nn.LayerNorm,
)


class CachedBlock(NamedTuple):
    """The modules of a block and its cache, (batch, heads, context_length, d) each."""

    block: PreNormBlock
    cache: KVCache


class TokenDecoder:
    """Steps of one token after a text that was read by `decode_step`.

    Args:
        model: a GPT that `fits`.
        kv_caches: what its `decode_step` returned for the text; copied.
    """

    def __init__(self, model: Any, kv_caches: tuple[KVCache, ...]):
        self.model, self.length = model, kv_caches[0].length
        self.layers = [
            CachedBlock(block, KVCache(*(with_room(t, model.context_length) for t in cache)))
            for block, cache in zip(model.blocks, kv_caches, strict=True)
        ]

    def step(self, tokens: Int[Tensor, " batch"]) -> Float[Tensor, "batch vocab"]:
        """The logits after these tokens; the text must be shorter than the context."""
        model, place = self.model, self.length
        self.length += 1
        x = model.embedding.weight[tokens] + model.positions.weight[place]
        for layer in self.layers:
            x = advance(layer, x, place)
        return product(normalized(x, model.norm), model.embedding.weight, None)


def advance(layer: CachedBlock, x: Tensor, place: int) -> Tensor:
    """x ← x + A(N(x)),   x ← x + F(N(x)) for the token at this place."""
    block, cache = layer
    attention, inner, outer = block.attention, block.feed_forward.inner, block.feed_forward.outer
    qkv = affine(normalized(x, block.norm_1), attention.projection)
    q, k, v = qkv.view(len(x), 3, attention.num_heads, 1, -1).unbind(1)
    cache.keys[:, :, place : place + 1] = k
    cache.values[:, :, place : place + 1] = v
    keys, values = (t[:, :, : place + 1] for t in cache)
    read = F.scaled_dot_product_attention(q, keys, values)
    x = x + affine(read.flatten(1), attention.output)
    hidden = block.feed_forward.activation(affine(normalized(x, block.norm_2), inner))
    return x.add_(affine(hidden, outer))


def affine(x: Tensor, layer: nn.Linear) -> Tensor:
    """W x + b."""
    return product(x, layer.weight, layer.bias)


def product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """W x + b by the library that is the faster one for this size."""
    if weight.numel() < LARGE:
        return F.linear(x, weight, bias)
    return torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")


def normalized(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    """N(x)."""
    return F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


def with_room(t: Tensor, length: int) -> Tensor:
    """A copy of (batch, heads, steps, d) with room for `length` steps."""
    roomy = t.new_empty(*t.shape[:2], length, t.shape[3])
    roomy[:, :, : t.shape[2]] = t
    return roomy


def fits(model: Any) -> bool:
    """Whether the steps of this model may be taken here."""
    parameters = [*model.parameters()]
    return (
        torch.backends.mkldnn.is_available()
        and not torch.compiler.is_compiling()
        and not torch.is_autocast_enabled("cpu")
        and all(p.dtype == torch.float32 and p.device.type == "cpu" for p in parameters)
        and all(type(part) in PARTS and plain(part) for part in [*model.modules()][1:])
        and isinstance(model.norm, nn.LayerNorm)
        and model.embedding.max_norm is None
        and all(a.key_size == a.value_size for a in (block.attention for block in model.blocks))
    )


def plain(part: nn.Module) -> bool:
    """Without hooks, parametrizations and replaced functions, which want to see every call."""
    hooks = part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
    return not hooks and not torch.nn.utils.parametrize.is_parametrized(part)

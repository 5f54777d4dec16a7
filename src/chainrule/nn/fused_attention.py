"""torch's fused attention kernel, and its batching rule for training many networks at once.

    Ξ_k = softmax(Q_k K_kᵀ / √d) V_k        for all networks k in one call, as one larger batch

torch has no batching rule for the kernel; without this one, vmap calls it once per network.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def fused_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """softmax(Q Kᵀ / √d) V of (batch, heads, steps, d); the mask broadcasts to Q Kᵀ."""
    if not torch.compiler.is_compiling() and torch._C._functorch.is_batchedtensor(q):
        return BatchedAttention.apply(q, k, v, mask, causal)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)


class BatchedAttention(torch.autograd.Function):
    """The kernel under vmap."""

    @staticmethod
    def forward(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing is saved: autograd differentiates the batched call itself."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        networks = info.batch_size
        q, k, v = (
            networks_first(t, axis, networks).flatten(0, 1)
            for t, axis in zip(inputs[:3], in_dims, strict=False)
        )
        mask, causal = inputs[3:]
        if mask is not None:
            mask = networks_first(mask, in_dims[3], networks).flatten(0, 1)
            if len(mask) < len(q):  # one mask for all examples of a network
                mask = mask.repeat_interleave(len(q) // len(mask), 0)
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return output.unflatten(0, (networks, -1)), 0


def networks_first(t: Tensor, axis: int | None, networks: int) -> Tensor:
    """t with the axis of networks in front; shared tensors are expanded."""
    return t.expand(networks, *t.shape) if axis is None else t.movedim(axis, 0)

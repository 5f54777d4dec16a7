"""Torch's fused attention kernel, and its batched form for many networks at once.

    Ξ_k = softmax(Q_k K_kᵀ / √d) V_k        for the members k: one call, members among the examples

torch has no batching rule for the kernel; without this one it would be called member by member.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor


def fused(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """softmax(Q Kᵀ / √d) V; tensors are (batch, heads, steps, d), the mask broadcasts to A."""
    if not torch.compiler.is_compiling() and torch._C._functorch.is_batchedtensor(q):
        return Members.apply(q, k, v, mask, causal)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)


class Members(torch.autograd.Function):
    """The kernel under vmap."""

    @staticmethod
    def forward(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Nothing is kept: only the batched form is ever differentiated, by autograd."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *inputs: Any) -> tuple[Tensor, int]:
        K = info.batch_size
        q, k, v = (
            members_first(t, axis, K).flatten(0, 1)
            for t, axis in zip(inputs[:3], in_dims, strict=False)
        )
        mask, causal = inputs[3:]
        if mask is not None:
            mask = members_first(mask, in_dims[3], K).flatten(0, 1)
            if len(mask) < len(q):  # one for all examples of a member
                mask = mask.repeat_interleave(len(q) // len(mask), 0)
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return found.unflatten(0, (K, -1)), 0


def members_first(t: Tensor, axis: int | None, members: int) -> Tensor:
    """With the axis of members in front."""
    return t.expand(members, *t.shape) if axis is None else t.movedim(axis, 0)

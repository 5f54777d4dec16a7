"""torch's fused attention kernel, and its batching rule for training many networks at once.

    Ξ_k = softmax(Q_k K_kᵀ / √d) V_k        for all networks k in one call, as one larger batch

torch has no batching rule for the kernel; without this one, vmap calls it once per network.

On a CPU the kernel multiplies small blocks one by one, which MKL does well and oneDNN does not. In
float32 it is therefore left to MKL, forward and backward. In bfloat16, which only oneDNN
multiplies, short sequences are trained by two products and a softmax, 2.3 times as fast.
"""

from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from chainrule.nn.kernels.float_products import MKL, SWITCHED, float_products
from chainrule.nn.kernels.second_derivatives import differentiable_gradients

LONGEST = 512  # steps of a sequence whose scores are cheaper in memory than block by block


def fused_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """softmax(Q Kᵀ / √d) V of (batch, heads, steps, d); the mask broadcasts to Q Kᵀ."""
    if torch.compiler.is_compiling():
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    if torch._C._functorch.is_batchedtensor(q):
        return BatchedAttention.apply(q, k, v, mask, causal)
    plain = not torch._C._are_functorch_transforms_active()
    if plain and q.requires_grad and q.device.type == "cpu":
        if q.dtype == torch.bfloat16 and q.shape[2] * k.shape[2] <= LONGEST**2:
            return product_attention(q, k, v, mask, causal)
        if q.dtype == torch.float32 and SWITCHED.get():
            return MKLAttention.apply(q, k, v, mask, causal)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)


def product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, causal: bool) -> Tensor:
    """softmax(Q Kᵀ / √d) V with all scores in memory; rows without an allowed key are zero."""
    scores = (q * q.shape[-1] ** -0.5) @ k.mT
    if causal:
        future = torch.full(scores.shape[2:], -torch.inf, dtype=scores.dtype).triu(1)
        return (scores + future).softmax(-1) @ v
    if mask is None:
        return scores.softmax(-1) @ v
    least = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, least).softmax(-1).masked_fill(~mask, 0.0) @ v


class MKLAttention(torch.autograd.Function):
    """The kernel with its products by MKL; second derivatives are those of the plain products."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Any, causal: bool) -> Tensor:
        ctx.save_for_backward(q, k, v)
        ctx.masks = mask, causal
        q, k, v = (t.detach().requires_grad_() for t in (q, k, v))
        with float_products(MKL), torch.enable_grad():
            output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        ctx.graph = (q, k, v), output
        return output.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # the gradient is to be differentiated too
            function = partial(product_attention, mask=ctx.masks[0], causal=ctx.masks[1])
            found = differentiable_gradients(function, ctx.saved_tensors, gradient)
            return (*found, None, None)
        inputs, output = ctx.graph
        again = torch._C._autograd._get_current_graph_task_keep_graph()
        with float_products(MKL):
            found = torch.autograd.grad(output, inputs, gradient, retain_graph=again)
        return (*found, None, None)


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

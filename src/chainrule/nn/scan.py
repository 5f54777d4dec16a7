"""The linear recurrence that minGRU, LRU and state-space layers share, real or complex.

    h_t = a_t ⊙ h_{t-1} + b_t,   t = 1 … T

Backwards it is the same recurrence from the end, with ā the complex conjugate:

    g_t = ∂ℓ/∂h_t + ā_{t+1} ⊙ g_{t+1}
    ∂ℓ/∂b_t = g_t,   ∂ℓ/∂a_t = g_t ⊙ h̄_{t-1},   ∂ℓ/∂h_0 = ā_1 ⊙ g_1

The steps are cut into blocks of √T, at most 64, and all blocks go together:

    1. run through every block from h = 0: where it ends, and the product of its a
    2. go from block to block, where each one really begins: h ← (∏ a) ⊙ h + end
    3. run through every block again, from there

So there are few operations on large arrays in place of T on small ones, and about 3 T products
where the loop has T. Nothing is divided and no logarithm is taken: a may be 0, 1 or anything
between, and the result differs from the loop's by rounding alone. Where the product of a block
overflows, which needs |a| > 1, the steps are taken one by one.

Memory: a and h are kept for the backward pass, which makes g and ∂ℓ/∂a: two arrays as large as b
forwards with h, two more backwards; the blocks' ends and products take 3/64 of one. A single step
keeps h alone: that is how text is generated.

Blelloch (1990), "Prefix sums and their applications"; Martin and Cundy (2018), ICLR. Notes: J 5.2.
"""

from collections.abc import Sequence
from math import isqrt
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor
from torch.autograd.function import once_differentiable

from chainrule.errors import InputError

FEW = 16  # steps that are taken one by one
LONGEST = 64  # block: in a longer one a product of small a would often be a slow, denormal number


def scan(
    a: Tensor,
    b: Shaped[Tensor, "batch steps *rest"],
    h: Shaped[Tensor, "batch *rest"] | None = None,
) -> Shaped[Tensor, "batch steps *rest"]:
    """h_1 … h_T from h_0 = h, or 0; a is of b's shape or of one that expands to it."""
    if b.ndim < 2 or not b.shape[1]:
        raise InputError(
            f"expected b of shape (batch, steps, …) with one step or more, got {tuple(b.shape)}"
        )
    kinds = {a.dtype, b.dtype, b.dtype if h is None else h.dtype}
    if len(kinds) > 1 or not (b.is_floating_point() or b.is_complex()):
        raise InputError(
            "expected a, b and h of one real or complex precision, got "
            + " and ".join(sorted(str(kind).removeprefix("torch.") for kind in kinds))
        )
    try:
        a = a.expand(b.shape)
    except RuntimeError:
        raise InputError(
            f"expected a of b's shape {tuple(b.shape)} or of one that expands to it, "
            f"got {tuple(a.shape)}"
        ) from None
    return Scan.apply(a, b, b.new_zeros(b[:, 0].shape) if h is None else h)


def loop(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """The recurrence as it is written, step by step, for autograd to differentiate."""
    states = []
    for a_t, b_t in zip(a.expand(b.shape).unbind(1), b.unbind(1), strict=True):
        h = a_t * h + b_t
        states.append(h)
    return torch.stack(states, 1)


class Scan(torch.autograd.Function):
    """The recurrence in blocks, and its gradient."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, h: Tensor) -> Tensor:
        states = torch.empty_like(b, memory_format=torch.contiguous_format)
        run(a, b, h, states)
        ctx.save_for_backward(a, states, h)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        a, states, h = ctx.saved_tensors
        a = a.conj()
        g = torch.empty_like(states)
        g[:, -1] = gradient[:, -1]
        run(a[:, 1:], gradient[:, :-1], g[:, -1], g[:, :-1], backwards=True)
        by_a = by_h = None
        if ctx.needs_input_grad[0]:
            by_a = torch.empty_like(g)
            torch.mul(g[:, 1:], states[:, :-1].conj(), out=by_a[:, 1:])
            torch.mul(g[:, 0], h.conj(), out=by_a[:, 0])
        if ctx.needs_input_grad[2]:
            by_h = a[:, 0] * g[:, 0]
        return by_a, g, by_h


def run(a: Tensor, b: Tensor, h: Tensor, states: Tensor, backwards: bool = False) -> None:
    """Write h_1 … h_T into `states`; backwards, the first step is the one at the end."""
    T = b.shape[1]
    length = min(isqrt(T), LONGEST)
    whole = T - T % length if T > FEW else 0
    if whole:
        first = slice(T - whole, T) if backwards else slice(0, whole)
        blocks = (t[:, first].unflatten(1, (-1, length)) for t in (a, b, states))
        a_t, b_t, h_t = (steps(t, backwards, axis=2) for t in blocks)
        end = run_blocks(a_t, b_t, h_t, h, backwards)
        h, whole = (h, 0) if end is None else (end, whole)
    rest = slice(0, T - whole) if backwards else slice(whole, T)
    a_t, b_t, h_t = (steps(t[:, rest], backwards) for t in (a, b, states))
    run_steps(a_t, b_t, h_t, h)


def run_blocks(
    a: Sequence[Tensor], b: Sequence[Tensor], states: Sequence[Tensor], h: Tensor, backwards: bool
) -> Tensor | None:
    """The same for steps of shape (batch, blocks, …); returns the last h, or None on overflow."""
    end, product = (t[0].clone(memory_format=torch.contiguous_format) for t in (b, a))
    for a_t, b_t in zip(a[1:], b[1:], strict=True):
        torch.addcmul(b_t, a_t, end, out=end)
        product.mul_(a_t)
    if not product.isfinite().all():
        return None
    begin = torch.empty_like(end)
    for place, p, e in zip(*(steps(t, backwards) for t in (begin, product, end)), strict=True):
        place.copy_(h)
        h = torch.addcmul(e, p, h)
    run_steps(a, b, states, begin)
    return h


def run_steps(
    a: Sequence[Tensor], b: Sequence[Tensor], states: Sequence[Tensor], h: Tensor
) -> None:
    """One by one, each into its place."""
    for a_t, b_t, h_t in zip(a, b, states, strict=True):
        h = torch.addcmul(b_t, a_t, h, out=h_t)


def steps(t: Tensor, backwards: bool, axis: int = 1) -> tuple[Tensor, ...]:
    """Its slices along time, in the order in which they are taken."""
    slices = t.unbind(axis)
    return slices[::-1] if backwards else slices

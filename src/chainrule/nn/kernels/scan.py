"""The linear recurrence of minGRU, minLSTM, LRU and state-space layers, real or complex.

    h_t = a_t ⊙ h_{t-1} + b_t,   t = 1 … T

Its gradient is the same recurrence run from the end, with ā the complex conjugate:

    g_t = ∂ℓ/∂h_t + ā_{t+1} ⊙ g_{t+1}
    ∂ℓ/∂b_t = g_t,   ∂ℓ/∂a_t = g_t ⊙ h̄_{t-1},   ∂ℓ/∂h_0 = ā_1 ⊙ g_1

The T steps are cut into blocks of √T steps, at most 64, which are processed in parallel:

    1. run every block from h = 0: its last state, and the product of its a
    2. go from block to block to find each block's true initial state: h ← (∏ a) ⊙ h + end
    3. run every block again from its true initial state

This takes few operations on large arrays instead of T on small ones, and about 3 T products instead
of T. There are no divisions and no logarithms, so a may be 0, 1 or anything between, and the result
equals the loop's up to rounding. Where a single step is large, or the product of a block overflows,
which needs |a| > 1, the steps are computed one by one.

`associative_scan` is the textbook's tree: about 3 T products too, of which only 2 log₂ T wait for
each other, where blocks have 3 √T. That pays on thousands of processors; on a few cores, large
blocks do.

Memory: the forward pass keeps a and h, the backward pass creates g and ∂ℓ/∂a, each as large as b;
the blocks' ends and products take 3/64 of that.

Blelloch (1990), "Prefix sums and their applications"; Martin and Cundy (2018), ICLR. Notes: J 5.2.
"""

from collections.abc import Sequence
from math import isqrt
from typing import Any

import torch
from jaxtyping import Shaped
from torch import Tensor

from chainrule.errors import InputError

MIN_STEPS = 16  # up to here the steps are computed one by one
LARGE_STEP = 4096  # numbers; from here on, one operation a step costs less than three
MAX_BLOCK = 64  # in longer blocks products of small a often become denormal, which is slow


def scan(
    a: Tensor,
    b: Shaped[Tensor, "batch steps *rest"],
    h: Shaped[Tensor, "batch *rest"] | None = None,
) -> Shaped[Tensor, "batch steps *rest"]:
    """h_1 … h_T of h_t = a_t ⊙ h_{t-1} + b_t.

    Args:
        a: Coefficients; any shape that expands to b's.
        b: Inputs.
        h: Initial state h_0; zero by default.
    """
    a, h = checked_inputs(a, b, h)
    return Scan.apply(a, b, h)


def associative_scan(
    a: Tensor,
    b: Shaped[Tensor, "batch steps *rest"],
    h: Shaped[Tensor, "batch *rest"] | None = None,
) -> Shaped[Tensor, "batch steps *rest"]:
    """The same states from a tree of depth log T, differentiated by autograd.

        (a, b) ∘ (a', b') = (a' a, a' b + b')    two steps as one, an associative operation

    Args:
        a: Coefficients; any shape that expands to b's.
        b: Inputs.
        h: Initial state h_0; zero by default.
    """
    a, h = checked_inputs(a, b, h)
    first = torch.addcmul(b[:, :1], a[:, :1], h[:, None])
    return tree(a, torch.cat([first, b[:, 1:]], 1))


def tree(a: Tensor, b: Tensor) -> Tensor:
    """The states from h_0 = 0: pairs of steps become one step, a sequence of half the length."""
    if b.shape[1] == 1:
        return b
    a_1, b_1 = a[:, 1::2], b[:, 1::2]
    pairs = a_1.shape[1]
    a_0, b_0 = a[:, 0::2], b[:, 0::2]
    second = tree(a_1 * a_0[:, :pairs], torch.addcmul(b_1, a_1, b_0[:, :pairs]))
    later = torch.addcmul(b_0[:, 1:], a_0[:, 1:], second[:, : b_0.shape[1] - 1])
    first = torch.cat([b_0[:, :1], later], 1)
    both = torch.stack([first[:, :pairs], second], 2).flatten(1, 2)
    return torch.cat([both, first[:, pairs:]], 1)


def checked_inputs(a: Tensor, b: Tensor, h: Tensor | None) -> tuple[Tensor, Tensor]:
    """a in the shape of b, and h_0; an error if they do not fit."""
    if b.ndim < 2 or not b.shape[1]:
        raise InputError(
            f"expected b of shape (batch, steps, …) with one step or more, got {tuple(b.shape)}"
        )
    dtypes = {a.dtype, b.dtype, b.dtype if h is None else h.dtype}
    if len(dtypes) > 1 or not (b.is_floating_point() or b.is_complex()):
        raise InputError(
            "a, b and h must have the same real or complex dtype, got "
            + " and ".join(sorted(str(dtype).removeprefix("torch.") for dtype in dtypes))
        )
    try:
        a = a.expand(b.shape)
    except RuntimeError:
        raise InputError(
            f"expected a of a shape that expands to b's {tuple(b.shape)}, got {tuple(a.shape)}"
        ) from None
    return a, b.new_zeros(b[:, 0].shape) if h is None else h


def loop(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
    """The recurrence step by step, differentiated by autograd."""
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
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        a, states, h = ctx.saved_tensors
        if torch.is_grad_enabled():  # the gradient is to be differentiated too
            return differentiable_gradient(a, states, h, gradient)
        a = once(a).conj().resolve_conj().expand(a.shape)
        g = torch.empty_like(states)
        g[:, -1] = gradient[:, -1]
        run(a[:, 1:], gradient[:, :-1], g[:, -1], g[:, :-1], backwards=True)
        grad_a = grad_h = None
        if ctx.needs_input_grad[0]:
            grad_a = torch.empty_like(g)
            torch.mul(g[:, 1:], states[:, :-1].conj(), out=grad_a[:, 1:])
            torch.mul(g[:, 0], h.conj(), out=grad_a[:, 0])
        if ctx.needs_input_grad[2]:
            grad_h = a[:, 0] * g[:, 0]
        return grad_a, g, grad_h


def differentiable_gradient(
    a: Tensor, states: Tensor, h: Tensor, gradient: Tensor
) -> tuple[Tensor, ...]:
    """∂ℓ/∂a, ∂ℓ/∂b and ∂ℓ/∂h_0 by the same recurrence from the end, itself differentiable."""
    later = torch.cat([torch.zeros_like(a[:, :1]), a[:, 1:].flip(1)], 1).conj().resolve_conj()
    g = Scan.apply(later, gradient.flip(1), torch.zeros_like(h)).flip(1)
    before = torch.cat([h[:, None], states[:, :-1]], 1)
    return g * before.conj(), g, a[:, 0].conj() * g[:, 0]


def run(a: Tensor, b: Tensor, h: Tensor, states: Tensor, backwards: bool = False) -> None:
    """Write h_1 … h_T into `states`; backwards, time runs from the last step to the first."""
    T = b.shape[1]
    length = min(isqrt(T), MAX_BLOCK)
    whole = T - T % length if T > MIN_STEPS and h.numel() < LARGE_STEP else 0
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
    """The three stages for steps of shape (batch, blocks, …).

    Returns the last state, or None if a product overflows.
    """
    end = b[0].clone(memory_format=torch.contiguous_format)
    product = once(a[0]).clone(memory_format=torch.contiguous_format)
    for a_t, b_t in zip(a[1:], b[1:], strict=True):
        torch.addcmul(b_t, a_t, end, out=end)
        product.mul_(once(a_t))
    if not product.isfinite().all():
        return None
    product = product.expand(end.shape)
    begin = torch.empty_like(end)
    for initial, p, e in zip(*(steps(t, backwards) for t in (begin, product, end)), strict=True):
        initial.copy_(h)
        h = torch.addcmul(e, p, h)
    run_steps(a, b, states, begin)
    return h


def run_steps(
    a: Sequence[Tensor], b: Sequence[Tensor], states: Sequence[Tensor], h: Tensor
) -> None:
    """The steps one by one, written into `states`."""
    for a_t, b_t, h_t in zip(a, b, states, strict=True):
        h = torch.addcmul(b_t, a_t, h, out=h_t)


def once(t: Tensor) -> Tensor:
    """A tensor without the repetitions of an expanded one."""
    repeated = [axis for axis, stride in enumerate(t.stride()) if stride == 0]
    for axis in repeated:
        t = t.narrow(axis, 0, 1)
    return t


def steps(t: Tensor, backwards: bool, axis: int = 1) -> tuple[Tensor, ...]:
    """Slices along time, in the order in which they are computed."""
    slices = t.unbind(axis)
    return slices[::-1] if backwards else slices

"""Batch normalization over a batch that several processes share.

    forward     Σ 1, Σ x, Σ x²                       over the rows of a process, then over processes
    backward    Σ δ, Σ δ x̄                           the same, δ the gradient of the outputs
                ∂ℓ/∂x = γ/σ (δ - Σ δ / N - x̄ Σ δ x̄ / N),    x̄ = (x - E x)/σ,  σ² = Var x + ε

So a layer exchanges numbers twice in a step, and torch's kernels do the rest. torch's SyncBatchNorm
runs on GPUs only. The library's own layers ask `shares` themselves; those of torch have their
forward pass replaced while they train. Ioffe and Szegedy (2015), ICML.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.modules.batchnorm import _BatchNorm

from chainrule.errors import InputError
from chainrule.shares import SHARE, Share


@contextmanager
def synchronized(model: nn.Module) -> Iterator[None]:
    """Batch normalization layers of torch take their statistics from all processes."""
    layers = [part for part in model.modules() if isinstance(part, _BatchNorm)]
    for layer in layers:
        layer.forward = partial(forward, layer)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def forward(layer: _BatchNorm, x: Tensor) -> Tensor:
    """μ + γ (x - E x) / √(Var x + ε) with the statistics of the whole batch."""
    share = SHARE.get()
    if share is None or not layer.training:
        return type(layer).forward(layer, x)
    kind = x.dtype if layer.weight is None else layer.weight.dtype
    found = statistics(x, share, kind)
    if found.number == 1:
        raise InputError(
            "batch normalization needs at least two values of each unit in training, got one"
        )
    update(layer, found)
    return Normalized.apply(x, layer.weight, layer.bias, found, layer.eps, share)


class Statistics(NamedTuple):
    """Mean and variance of each unit over the whole batch, and the number of its values."""

    mean: Tensor
    variance: Tensor
    number: int


@torch.no_grad()
def statistics(x: Tensor, share: Share, kind: torch.dtype) -> Statistics:
    """Those of all processes, from a sum of (n, n E x, n E x²) over them.

    It is taken in double precision, in which E x² - (E x)² loses nothing that x has.
    """
    number = x.numel() // x.shape[1]
    sums = torch.zeros(2, x.shape[1], dtype=torch.float64)
    if number:
        mean, variance = (t.double() for t in torch.batch_norm_update_stats(x, None, None, 0.0))
        sums = number * torch.stack([mean, variance + mean.square()])
    total, number = share.sum_and_count(sums, number)
    mean, square = total / number
    return Statistics(mean.to(kind), (square - mean.square()).clamp_min(0).to(kind), number)


class Normalized(torch.autograd.Function):
    """μ + γ x̄ with given statistics, which depend on all rows of all processes."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        found: Statistics,
        eps: float,
        share: Share,
    ) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.found, ctx.eps, ctx.share = found, eps, share
        return F.batch_norm(x, found.mean, found.variance, weight, bias, eps=eps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (x, weight), found, eps = ctx.saved_tensors, ctx.found, ctx.eps
        of_x, of_weight, of_bias = derivatives(gradients[0], x, found, weight, eps)
        if ctx.needs_input_grad[0]:
            both = ctx.share.sum(torch.stack([of_weight, of_bias])) / found.number
            slope = (found.variance + eps).rsqrt() * (1 if weight is None else weight)
            if ctx.share.counted:  # as is a layer whose weights are -γ/σ Σ δ x̄ / N, -γ/σ Σ δ / N
                gamma, mu = -slope * both
                of_x += F.batch_norm(x, found.mean, found.variance, gamma, mu, eps=eps)
        return of_x, of_weight, of_bias, None, None, None


def derivatives(
    gradient: Tensor, x: Tensor, found: Statistics, weight: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """γ/σ δ, Σ δ x̄ and Σ δ of this process: those of a layer whose statistics are fixed.

    It may have no rows, for which torch's kernel ends the program.
    """
    if not x.numel():
        return torch.zeros_like(x), torch.zeros_like(found.mean), torch.zeros_like(found.mean)
    kernel = torch.ops.aten.native_batch_norm_backward
    given = (found.mean, found.variance, None, None)
    of_x, of_weight, of_bias = kernel(gradient, x, weight, *given, False, eps, [True] * 3)
    return of_x, of_weight, of_bias


@torch.no_grad()
def update(layer: _BatchNorm, found: Statistics) -> None:
    """The running statistics, with the unbiased variance N/(N - 1) Var."""
    if layer.running_mean is None or layer.running_var is None:
        return
    rate = layer.momentum
    if layer.num_batches_tracked is not None:
        layer.num_batches_tracked.add_(1)
        rate = 1.0 / float(layer.num_batches_tracked) if rate is None else rate
    layer.running_mean.lerp_(found.mean.to(layer.running_mean.dtype), rate or 0.0)
    unbiased = found.variance * (found.number / max(1, found.number - 1))
    layer.running_var.lerp_(unbiased.to(layer.running_var.dtype), rate or 0.0)

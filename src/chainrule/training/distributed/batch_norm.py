"""Batch normalization over a batch that several processes share.

    E x = 1/N Σ_ranks Σ x,    Var x = 1/N Σ_ranks Σ (x - E x)²

torch's SyncBatchNorm runs on GPUs only. The library's own layers ask `shares` themselves; those of
torch have their forward pass replaced while they train.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from chainrule.errors import InputError
from chainrule.shares import SHARE


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
    axes = [0, *range(2, x.ndim)]
    shape = (1, -1, *[1] * (x.ndim - 2))
    total, number = share.sum_and_count(x.sum(axes), x.numel() // x.shape[1])
    if number == 1:
        raise InputError(
            "batch normalization needs at least two values of each unit in training, got one"
        )
    mean = total / number
    centered = x - mean.view(shape)
    variance = share.sum(centered.square().sum(axes)) / number
    update(layer, mean.detach(), variance.detach(), number)
    found = centered * (variance + layer.eps).rsqrt().view(shape)
    if layer.affine:
        found = found * layer.weight.view(shape) + layer.bias.view(shape)
    return found


@torch.no_grad()
def update(layer: _BatchNorm, mean: Tensor, variance: Tensor, number: int) -> None:
    """The running statistics, with the unbiased variance N/(N - 1) Var."""
    if layer.running_mean is None or layer.running_var is None:
        return
    rate = layer.momentum
    if layer.num_batches_tracked is not None:
        layer.num_batches_tracked.add_(1)
        rate = 1.0 / float(layer.num_batches_tracked) if rate is None else rate
    layer.running_mean.lerp_(mean.to(layer.running_mean.dtype), rate or 0.0)
    unbiased = variance * (number / max(1, number - 1))
    layer.running_var.lerp_(unbiased.to(layer.running_var.dtype), rate or 0.0)

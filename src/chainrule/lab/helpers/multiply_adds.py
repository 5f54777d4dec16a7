"""Multiply-adds of whatever runs, counted operation by operation.

Only products of matrices count; sums, norms and activations do not.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from chainrule.nn.profile import FLOP_FORMULAS


@torch.enable_grad()  # without gradients torch's counter trips over weights that are passed on
def multiply_adds(function: Callable[..., object], *inputs: Tensor) -> int:
    """By torch's rules and ours, which add fused attention and recurrent kernels."""
    with FlopCounterMode(display=False, custom_mapping=FLOP_FORMULAS) as counter:
        function(*inputs)
    return counter.get_total_flops() // 2


def torch_multiply_adds(function: Callable[..., object], *inputs: Tensor) -> int:
    """By torch's rules alone, which leave out the same kernels forward and backward."""
    with FlopCounterMode(display=False) as counter:
        function(*inputs)
    return counter.get_total_flops() // 2

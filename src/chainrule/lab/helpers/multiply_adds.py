"""Multiply-adds of whatever runs, counted operation by operation."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from chainrule.nn.profile import FLOP_FORMULAS


@torch.enable_grad()  # without gradients torch's counter trips over weights that are passed on
def multiply_adds(function: Callable[..., object], *inputs: Tensor) -> int:
    """Products of matrices only; sums, norms and activations are not counted."""
    with FlopCounterMode(display=False, custom_mapping=FLOP_FORMULAS) as counter:
        function(*inputs)
    return counter.get_total_flops() // 2

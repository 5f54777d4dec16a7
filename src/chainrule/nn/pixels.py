"""Images stored as bytes.

    x ↦ x / 255     for bytes, x for anything else

A byte takes a quarter of the memory of a float, so images stay bytes until a batch is taken.
"""

import torch
from torch import Tensor


def unit_range(x: Tensor) -> Tensor:
    """Bytes as numbers in [0, 1]; other tensors unchanged.

    x: a batch of any type.
    """
    return x.float() / 255 if x.dtype == torch.uint8 else x

"""Random signals of integers, whose sums of products double precision adds without rounding."""

import torch
from torch import Tensor

LARGEST = 9


def integer_signal(shape: list[int], generator: torch.Generator) -> Tensor:
    """Integers from -9 to 9 in double precision."""
    return torch.randint(-LARGEST, LARGEST + 1, shape, generator=generator).double()

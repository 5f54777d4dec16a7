"""Evaluating a large batch in chunks, for models that would need too much memory for all of it."""

from collections.abc import Callable

import torch
from torch import Tensor


def chunked(f: Callable[[Tensor], Tensor], x: Tensor, chunk_size: int, training: bool) -> Tensor:
    """f(x); outside of training in chunks of `chunk_size` examples, independent of each other.

    An exported program has no chunks: its number of examples is not known yet.
    """
    if training or torch.compiler.is_compiling() or len(x) <= chunk_size:
        return f(x)
    return torch.cat([f(chunk) for chunk in x.split(chunk_size)])

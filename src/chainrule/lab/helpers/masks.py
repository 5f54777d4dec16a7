"""All dropout masks of a few units, their probabilities, and networks that are given them.

p(m) = Π_j p^{m_j} (1 - p)^{1 - m_j},     p = 1 - rate
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from chainrule.nn.dropout import MASKS

MOST = 16  # units whose masks are all formed


def every_mask(units: int) -> Tensor:
    """(2ᵈ, d): zeros and ones."""
    numbers = torch.arange(2**units)[:, None]
    return (numbers >> torch.arange(units) & 1).double()


def probabilities(masks: Tensor, keep: float) -> Tensor:
    """p(m) of every row."""
    return (keep * masks + (1 - keep) * (1 - masks)).prod(1)


@contextmanager
def given(masks: Tensor) -> Iterator[None]:
    """Row i of a batch gets mask i; the columns are the dropped units of all layers in turn."""
    used = 0

    def deal(h: Tensor, rate: float) -> Tensor:
        nonlocal used
        used += h.shape[1]
        return masks[:, used - h.shape[1] : used] / (1 - rate)

    token = MASKS.set(deal)
    try:
        yield
    finally:
        MASKS.reset(token)

"""Rows are cut to the longest of all processes, so that dropout has the shape of one process."""

import torch

from chainrule.models.attention import transformer
from chainrule.nn import sequences
from chainrule.shares import SHARE, Share


def test_rows_are_as_long_as_the_longest_of_any_process() -> None:
    tokens = torch.tensor([[3, 4, 5, 0, 0, 0], [3, 4, 0, 0, 0, 0]])
    token = SHARE.set(
        Share(0, 2, 4, 0, True, lambda t: t, lambda number: number + 2, lambda n: [n, n])
    )
    try:
        for module in (transformer, sequences):
            assert module.trim_padding(tokens).shape == (2, 5)
    finally:
        SHARE.reset(token)

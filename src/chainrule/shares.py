"""A batch that several processes share: what a layer must know to treat it as one batch.

    rank r of k takes the rows ⌊r b / k⌋ … ⌊(r + 1) b / k⌋ - 1 of a batch of b rows

Statistics of the batch are sums over all processes, and lengths the largest of all. Without a
share, which is the usual case, both are what the one process finds.

Rows may be sets or sequences of different size. What is packed from them, one entry an element, is
shared too: rank r has the elements after those of the ranks before it (`packed`).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class Share:
    """The rows start … stop - 1 of a batch of `total` rows.

    Args:
        start: the first row.
        stop: after the last row.
        total: rows of the whole batch.
        rank: of this process.
        counted: False for a row that stands in for a share without rows.
        summed: the differentiable sum of a tensor over all processes.
        largest: the largest of a number over all processes.
        counts: a number of every process, in their order; 0 of one without rows.
    """

    start: int
    stop: int
    total: int
    rank: int
    counted: bool
    summed: Callable[[Tensor], Tensor]
    largest: Callable[[int], int]
    counts: Callable[[int], list[int]]

    @property
    def rows(self) -> int:
        return self.stop - self.start

    def sum(self, t: Tensor) -> Tensor:
        """The sum over the whole batch, from the sum over these rows."""
        return self.summed(t if self.counted else t * 0)

    def sum_and_count(self, t: Tensor, count: int) -> tuple[Tensor, int]:
        """The sum over the whole batch, and of how many, from those of these rows.

        The entries of a row may be of any number, so the count is summed as well.
        """
        both = self.sum(torch.cat([t.flatten(), t.new_tensor([float(count)])]))
        return both[:-1].view_as(t), round(both[-1].item())


SHARE: ContextVar[Share | None] = ContextVar("SHARE", default=None)


def longest(number: int) -> int:
    """The largest number of all processes that share the batch, such as the length of a row."""
    share = SHARE.get()
    return number if share is None else share.largest(number)


@contextmanager
def packed(count: int) -> Iterator[None]:
    """Inside the `with` block a batch is one of elements, of which these rows have `count`."""
    share = SHARE.get()
    if share is None:
        yield
        return
    every, rank = share.counts(count if share.counted else 0), share.rank
    start = sum(every[:rank]) if share.counted else 0
    token = SHARE.set(replace(share, start=start, stop=start + count, total=sum(every)))
    try:
        yield
    finally:
        SHARE.reset(token)

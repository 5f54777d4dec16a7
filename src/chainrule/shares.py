"""A batch that several processes share: what a layer must know to treat it as one batch.

    rank r of k takes the rows ⌊r b / k⌋ … ⌊(r + 1) b / k⌋ - 1 of a batch of b rows

Statistics of the batch are sums over all processes, and lengths the largest of all. Without a
share, which is the usual case, both are what the one process finds.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Share:
    """The rows start … stop - 1 of a batch of `total` rows.

    Args:
        start: the first row.
        stop: after the last row.
        total: rows of the whole batch.
        counted: False for a row that stands in for a share without rows.
        summed: the differentiable sum of a tensor over all processes.
        largest: the largest of a number over all processes.
    """

    start: int
    stop: int
    total: int
    counted: bool
    summed: Callable[[Tensor], Tensor]
    largest: Callable[[int], int]

    @property
    def rows(self) -> int:
        return self.stop - self.start

    def whole(self, count: int) -> int:
        """How many the whole batch has, where these rows have `count`."""
        return count // self.rows * self.total

    def sum(self, t: Tensor) -> Tensor:
        """The sum over the whole batch, from the sum over these rows."""
        return self.summed(t if self.counted else t * 0)


SHARE: ContextVar[Share | None] = ContextVar("SHARE", default=None)


def longest(number: int) -> int:
    """The largest number of all processes that share the batch, such as the length of a row."""
    share = SHARE.get()
    return number if share is None else share.largest(number)

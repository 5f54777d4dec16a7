"""Windows of consecutive blocks of rows, as many as fit into memory."""

from typing import NamedTuple

import numpy as np
from torch import Tensor

from chainrule.training.sources.base import Arrays


class Window(NamedTuple):
    """Rows as they were read, and the number of the row of each place."""

    arrays: Arrays
    order: Tensor

    def rows(self, first: int, number: int) -> Arrays:
        """Those of so many places."""
        chosen = self.order[first : first + number]
        return tuple(t.index_select(0, chosen) for t in self.arrays)


def windows(order: np.ndarray, sizes: np.ndarray, most: int) -> list[np.ndarray]:
    """Consecutive blocks of the order, as many in each window as fit into so many bytes."""
    found, size = [[int(order[0])]], int(sizes[order[0]])
    for block in order[1:].tolist():
        size += int(sizes[block])
        if size > most:
            found.append([])
            size = int(sizes[block])
        found[-1].append(block)
    return [np.array(blocks) for blocks in found]

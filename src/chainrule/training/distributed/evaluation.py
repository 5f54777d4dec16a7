"""Evaluation by several processes: each takes some of the parts of a split.

All parts keep the size they have in one process, so that outputs and metrics are exactly the same.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from chainrule.training.distributed.group import Group
from chainrule.training.evaluation import EACH


@contextmanager
def evaluated_together(group: Group) -> Iterator[None]:
    """Inside the `with` block the parts of a split are evaluated by all processes."""

    def each(function: Callable[[Any], Any], parts: Iterable[Any]) -> list[Any]:
        mine, number, last = [], 0, None
        for number, part in enumerate(parts, 1):
            last = part
            if (number - 1) % group.size == group.rank:
                mine.append(function(part))
        if group.sharded and len(mine) < -(-number // group.size):
            function(last)  # every forward pass of a sharded model needs all processes
        group.meet()
        found = group.gather(mine)
        return [found[k % group.size][k // group.size] for k in range(number)]

    token = EACH.set(each)
    try:
        yield
    finally:
        EACH.reset(token)

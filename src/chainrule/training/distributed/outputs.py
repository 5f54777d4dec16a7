"""The outputs of all processes put together, for losses whose rows depend on each other.

Outputs are a tensor, or tuples, lists and mappings of tensors; each tensor has a row per example.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from chainrule.errors import InputError
from chainrule.shares import Share
from chainrule.training.distributed.group import Group, bounds
from chainrule.training.distributed.lost import answered


class Gathered(torch.autograd.Function):
    """The rows of all processes, in order; each has the gradient of its own."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, share: Share, group: Group) -> Tensor:
        ctx.rows = slice(share.start, share.stop) if share.counted else None
        places = [bounds(r, group.size, share.total) for r in range(group.size)]
        most = max(stop - start for start, stop in places)
        mine = rows.new_zeros((most, *rows.shape[1:]))
        mine[: share.rows if share.counted else 0] = rows if share.counted else rows[:0]
        found = [torch.empty_like(mine) for _ in places]
        with answered():
            dist.all_gather(found, mine)
        parts = zip(found, places, strict=True)
        return torch.cat([t[: stop - start] for t, (start, stop) in parts])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        whole = gradients[0]
        mine = whole[:1] * 0 if ctx.rows is None else whole[ctx.rows]
        return mine, None, None


def gathered(output: Any, share: Share, group: Group) -> Any:
    """The outputs of the whole batch, in their form, from those of this process."""
    if isinstance(output, Mapping):
        return {name: gathered(part, share, group) for name, part in output.items()}
    if isinstance(output, tuple | list):
        return tuple(gathered(part, share, group) for part in output)
    if output.ndim == 0 or len(output) != share.rows:
        raise InputError(
            f"an output of shape {tuple(output.shape)} has no row for each of {share.rows} "
            "examples, so several processes cannot share the batch; train in one process"
        )
    return Gathered.apply(output, share, group)


def tensors(output: Any) -> Iterator[Tensor]:
    """The tensors of an output of any form."""
    if isinstance(output, Mapping):
        output = tuple(output.values())
    if isinstance(output, tuple | list):
        for part in output:
            yield from tensors(part)
    else:
        yield output

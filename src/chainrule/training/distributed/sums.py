"""Gradients summed over all processes after the backward pass, where DDP cannot do it meanwhile."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from chainrule.training.distributed.group import Group

AT_ONCE = 2**23  # numbers that are summed at a time


def sum_by_hand(parameters: list[nn.Parameter], group: Group) -> bool:
    """Sum the gradients; whether every process has one of every parameter.

    A parameter that no process has used keeps none, as in one process.
    """
    used = torch.tensor([p.grad is not None for p in parameters], dtype=torch.int32)
    group.sum(used)
    gradients: dict[torch.dtype, list[Tensor]] = {}
    for p, number in zip(parameters, used.tolist(), strict=True):
        if number:
            p.grad = torch.zeros_like(p) if p.grad is None else p.grad
            gradients.setdefault(p.grad.dtype, []).append(p.grad)
    for alike in gradients.values():
        for part in parts_of(alike):
            flat = group.sum(torch.cat([g.flatten() for g in part]))
            for g, total in zip(part, flat.split([g.numel() for g in part]), strict=True):
                g.copy_(total.view_as(g))
    return bool((used == group.size).all())


def parts_of(gradients: list[Tensor]) -> Iterator[list[Tensor]]:
    """The gradients in parts of about `AT_ONCE` numbers."""
    part: list[Tensor] = []
    for g in gradients:
        part.append(g)
        if sum(one.numel() for one in part) >= AT_ONCE:
            yield part
            part = []
    if part:
        yield part

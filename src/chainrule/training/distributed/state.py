"""The state of a run in several processes: all hold the same weights, and the first one writes.

The file is that of one process, so a run continues in any number of processes. What is carried from
step to step belongs to the rows of a process and is put together.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from chainrule.training import checkpoint
from chainrule.training.distributed.group import Group, current
from chainrule.training.state import State


class ParallelState(State):
    """A state whose checkpoints are written by the first process and read by all."""

    @property
    def group(self) -> Group:
        group = current()
        assert group is not None
        return group

    def parts(self) -> dict[str, dict[str, Tensor]]:
        found = super().parts()
        if self.carried:
            every = self.group.gather({k: t.cpu() for k, t in self.carried.items()})
            found["carried."] = {k: torch.cat([part[k] for part in every]) for k in self.carried}
        return found

    def write(self, folder: Path, tensors: dict[str, Tensor]) -> None:
        if self.group.first:
            super().write(folder, tensors)

    def exists(self, folder: Path) -> bool:
        return self.group.broadcast(self.group.first and super().exists(folder))

    def read(self, folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
        return self.group.broadcast(super().read(folder) if self.group.first else None)

    def restore_rest(self, tensors: dict[str, Tensor], numbers: dict[str, Any]) -> None:
        super().restore_rest(tensors, numbers)
        for name, t in checkpoint.part(tensors, "carried.").items():
            start, stop = self.group.rows(len(t))
            self.carried[name] = t[start:stop].clone()

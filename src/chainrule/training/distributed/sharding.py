"""Sharded training: each process holds 1/k of parameters, gradients and the optimizer's memory.

    parameters of a block are put together before its forward and backward pass, and let go after;
    gradients are summed over the processes, and each keeps the part that it updates

torch's fully_shard on every block of a model, and on the rest of it.
Rajbhandari et al. (2020), SC 20; Zhao et al. (2023), VLDB 16.
"""

import copy
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from chainrule.errors import DivergenceError, InputError
from chainrule.training import checkpoint
from chainrule.training.distributed import shards
from chainrule.training.distributed.group import Group
from chainrule.training.distributed.state import ParallelState
from chainrule.training.distributed.trainer import Forward, ParallelTrainer
from chainrule.training.trainer import TrainSpec


class ShardedState(ParallelState):
    """A state whose tensors are spread over the processes; so are its checkpoints."""

    pending: "Future[Any] | None" = None
    background: Any = None

    def save(self, folder: Path) -> None:
        lost = float(bool(checkpoint.not_finite_local(self.model)))
        if self.group.sum(torch.tensor(lost)).item():
            raise DivergenceError(
                f"the weights are no longer finite in epoch {self.epoch + 1}, step {self.step}; "
                "the last good checkpoint is kept. Try a smaller `learning_rate`, or clip gradients"
            )
        self.settle()
        if self.background is None:
            self.background = dist.new_group(backend="gloo")
        self.pending = shards.save(folder, self.named_parts(), self.numbers(), self.background)
        self.folder = folder

    def settle(self) -> None:
        """Wait until the last checkpoint is on the disk."""
        if self.pending is not None:
            pending, self.pending = self.pending, None
            shards.settled(pending)

    def read(self, folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
        if not self.group.broadcast(self.group.first and self.in_shards(folder)):
            tensors, numbers = super().read(folder)
            return {name: self.spread(name, t) for name, t in tensors.items()}, numbers
        numbers = self.group.broadcast(self.numbers_of_set(folder) if self.group.first else None)
        path = shards.verified(folder)
        targets = {
            name: self.spread(name, torch.zeros(size, dtype=kind))
            for name, (size, kind) in shards.shapes(path).items()
        }
        return shards.load(path, targets), numbers

    def spread(self, name: str, t: Tensor) -> Tensor:
        """This process's part of a tensor of a checkpoint, where the model has parts."""
        like = self.like(name)
        if not isinstance(like, DTensor) or like.shape != t.shape:
            return t
        return distribute_tensor(t.contiguous(), like.device_mesh, like.placements)

    def like(self, name: str) -> Tensor | None:
        """The parameter or buffer that a tensor of a checkpoint belongs to."""
        kind, _, rest = name.partition(".")
        if kind == "optimizer":
            every = [p for group in self.optimizer.param_groups for p in group["params"]]
            return every[int(rest.split(".")[0])]
        own = self.model.state_dict()
        return own.get(rest.removeprefix("average.") if kind == "average" else rest)


class ShardedTrainer(ParallelTrainer):
    """Trains a network that no process holds alone.

    Args:
        model: it gives its parameters away, and has them back at the end.
        spec: of the run.
        group: the processes.
    """

    state_type = ShardedState
    state: ShardedState

    def __init__(self, model: nn.Module, spec: TrainSpec, group: Group):
        if spec.settings.layer_decay < 1 or spec.settings.unfreeze_every:
            raise InputError(
                "`layer_decay` and `unfreeze_every` need whole layers; leave them out, or `sharded`"
            )
        self.whole, twin = model, shard(model)
        super().__init__(twin, replace(spec, forward=twin), group)

    def wrapped(self, model: nn.Module) -> nn.Module:
        return Forward(model, self.spec.train)

    def local(self, last: bool) -> AbstractContextManager[None]:
        assert isinstance(self.state.model, FSDPModule)
        self.state.model.set_requires_gradient_sync(last)
        return nullcontext()

    def close(self) -> None:
        super().close()
        self.state.settle()

    def finish(self) -> None:
        super().finish()
        restore(self.whole, self.state.model)


def blocks(model: nn.Module) -> list[nn.Module]:
    """The repeated parts of a model, which are sharded one by one."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    return [block for part in lists for block in part]


def shard(model: nn.Module) -> nn.Module:
    """The same model with sharded parameters; the given one is left empty."""
    if not blocks(model):
        raise InputError(
            "`sharded` needs a model of repeated blocks, such as GPT, BERT, Transformer or ViT"
        )
    memo = {
        id(p): nn.Parameter(p.data.contiguous(), requires_grad=p.requires_grad)
        for p in model.parameters()
    }
    twin = copy.deepcopy(model, memo)
    for p in model.parameters():
        p.data = p.data.new_empty(0)
    del memo
    for block in blocks(twin):
        fully_shard(block)
    fully_shard(twin)
    return twin


@torch.no_grad()
def restore(model: nn.Module, twin: nn.Module) -> None:
    """Give the whole parameters back to the model."""
    for p, part in zip(model.parameters(), twin.parameters(), strict=True):
        found = part.full_tensor() if isinstance(part, DTensor) else part
        p.data = found.detach().clone()
    for buffer, other in zip(model.buffers(), twin.buffers(), strict=True):
        buffer.copy_(other)


def held_bytes(trainer: ParallelTrainer) -> int:
    """Bytes of parameters, gradients and the optimizer's memory in this process."""
    model, optimizer = trainer.state.model, trainer.state.optimizer
    own = [t for p in model.parameters() for t in (p, p.grad) if t is not None]
    memory = [t for slots in optimizer.state.values() for t in slots.values()]
    tensors = [t.to_local() if isinstance(t, DTensor) else t for t in own + memory]
    return sum(t.numel() * t.element_size() for t in tensors if isinstance(t, Tensor))

"""Sharded training: each process holds 1/k of parameters, gradients and the optimizer's memory.

    parameters of a block are put together before its forward and backward pass, and let go after;
    gradients are summed over the processes, and each keeps the part that it updates

torch's fully_shard on every block of a model, and on the rest of it.
Rajbhandari et al. (2020), SC 20; Zhao et al. (2023), VLDB 16.
"""

import copy
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from chainrule.errors import DivergenceError, InputError
from chainrule.training import checkpoint
from chainrule.training.distributed import shards
from chainrule.training.distributed.alike import check_alike
from chainrule.training.distributed.group import Group
from chainrule.training.distributed.lost import answered
from chainrule.training.distributed.state import ParallelState
from chainrule.training.distributed.trainer import ParallelTrainer
from chainrule.training.evaluation import evaluation_mode
from chainrule.training.randomness import GENERATOR
from chainrule.training.trainer import TrainSpec

METHODS = ("decode_step",)  # by which batch sources call a model, besides `forward`


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
            with answered():
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
        check_alike(model, spec, group)
        self.whole, (twin, self.hooks) = model, shard(model, lambda: look(model, spec))
        super().__init__(twin, replace(spec, forward=twin), group)
        optimizer = self.state.optimizer
        if isinstance(optimizer, torch.optim.SGD | torch.optim.Adagrad):
            for values in optimizer.param_groups:  # these fused kernels take no sharded tensors
                values["fused"] = False

    @property
    def scale(self) -> int:
        return self.group.size

    def sum_gradients(self, whole: bool) -> None:
        """The backward pass has summed them; what changes a gradient takes the whole one."""
        for p, hooks in self.hooks:
            if isinstance(p.grad, DTensor):
                g = p.grad.full_tensor()
                for hook in hooks:
                    changed = hook(g)
                    g = g if changed is None else changed
                p.grad = distribute_tensor(g, p.grad.device_mesh, p.grad.placements)

    def local(self, last: bool) -> AbstractContextManager[None]:
        assert isinstance(self.state.model, FSDPModule)
        self.state.model.set_requires_gradient_sync(last)
        return nullcontext()

    def close(self) -> None:
        super().close()
        self.state.settle()

    def finish(self) -> None:
        super().finish()
        with answered(beside=True):
            restore(self.whole, self.state.model)


def blocks(model: nn.Module) -> list[nn.Module]:
    """The repeated parts of a model, which are sharded one by one."""
    lists = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    return [block for part in lists for block in part]


Hooks = list[tuple[nn.Parameter, list[Callable[[Tensor], Tensor | None]]]]
"""Functions of the gradients of some parameters."""


def shard(model: nn.Module, forward: Callable[[], object]) -> tuple[nn.Module, Hooks]:
    """The same model with sharded parameters, and its hooks; the given one is left empty.

    forward: one forward pass of the model, which shows what it calls.
    """
    if not blocks(model):
        raise InputError(
            "`sharded` needs a model of repeated blocks, such as GPT, BERT, Transformer or ViT"
        )
    places = {id(part): name for name, part in model.named_modules()}
    units = [places[id(unit)] for unit in closed_units(model, forward)]
    hooks = [list((p._backward_hooks or {}).values()) for p in model.parameters()]
    if any(p._post_accumulate_grad_hooks for p in model.parameters()):
        raise InputError(
            "`sharded` cannot call hooks that look at a parameter after its gradient has come; "
            "use `register_hook`, or train copies"
        )
    memo = {
        id(p): nn.Parameter(p.data.contiguous(), requires_grad=p.requires_grad)
        for p in model.parameters()
    }
    twin = copy.deepcopy(model, memo)
    for p in model.parameters():
        p.data = p.data.new_empty(0)
    del memo
    for name in units:
        unit = twin.get_submodule(name)
        unit.register_forward_hook(without_views)
        fully_shard(unit)
    twin.register_forward_hook(without_views)
    fully_shard(twin)
    for method in METHODS:
        if hasattr(twin, method):
            register_fsdp_forward_method(twin, method)
    pairs = zip(twin.parameters(), hooks, strict=True)
    return twin, [(p, found) for p, found in pairs if found]


def without_views(_: nn.Module, __: Any, output: Any) -> Any:
    """The output in memory of its own: changed in place, a view loses what gathers the weights."""
    return tree_map(lambda t: t.clone() if isinstance(t, Tensor) and t._is_view() else t, output)


def look(model: nn.Module, spec: TrainSpec) -> object:
    """The forward pass of a row, in evaluation, without a trace."""
    with GENERATOR, torch.random.fork_rng(devices=[]), evaluation_mode(model):
        torch.manual_seed(0)
        batch = spec.train.epoch(spec.settings, 0)(0)
        return spec.train.forward(model, tuple(t[:1] for t in batch.inputs), {})


def closed_units(model: nn.Module, forward: Callable[[], object]) -> list[nn.Module]:
    """The blocks whose parameters are used inside of their own calls only, or parts of such blocks.

    Parameters are there while the module that was sharded is called. Those of a block of which
    another part of the model takes a weight, or calls another method, stay with the model.
    """
    inside = {part for block in blocks(model) for part in block.modules()}
    uses = Uses(inside)
    with ExitStack() as stack, uses:
        for part in inside:
            stack.callback(part.register_forward_pre_hook(uses.enter).remove)
            stack.callback(part.register_forward_hook(uses.leave, always_call=True).remove)
        forward()

    def units(part: nn.Module) -> list[nn.Module]:
        if not any(True for _ in part.parameters()):
            return []
        if part in uses.called and part not in uses.open:
            return [part]
        return [unit for child in part.children() for unit in units(child)]

    return list(dict.fromkeys(unit for block in blocks(model) for unit in units(block)))


class Uses(TorchFunctionMode):
    """Which modules are called, and of which a parameter is used while they are not.

    Args:
        modules: that are looked at.
    """

    def __init__(self, modules: set[nn.Module]):
        super().__init__()
        self.called: set[nn.Module] = set()
        self.open: set[nn.Module] = set()
        self.running: list[nn.Module] = []
        self.owners: dict[int, set[nn.Module]] = {}
        for part in modules:
            for p in part.parameters():
                self.owners.setdefault(id(p), set()).add(part)

    def enter(self, part: nn.Module, _: Any) -> None:
        self.called.add(part)
        self.running.append(part)

    def leave(self, part: nn.Module, _: Any, __: Any) -> None:
        self.running.remove(part)

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") == "__get__" and not isinstance(found, Tensor):
            return found  # a shape or a type
        for value in tree_leaves((args, kwargs)):
            self.open |= self.owners.get(id(value), set()).difference(self.running)
        return found


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

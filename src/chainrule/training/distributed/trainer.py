"""One network trained by several processes, to the weights that one process finds.

    batch t of epoch e follows from (seed, e, t), whatever the number of processes
    rank r computes Σ of the losses of its rows / Σ over the whole batch,  and its gradient
    g = Σ_r g_r                                             DistributedDataParallel, or fully_shard

Everything else of a step is that of `NetworkTrainer`. Li et al. (2020), VLDB 13.
"""

import inspect
import time
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from chainrule.errors import InputError
from chainrule.learning import losses
from chainrule.shares import Share
from chainrule.training.distributed.batch_norm import synchronized
from chainrule.training.distributed.draws import sharing
from chainrule.training.distributed.evaluation import evaluated_together
from chainrule.training.distributed.group import STOP, Group, answered, check_rows
from chainrule.training.distributed.outputs import gathered, tensors
from chainrule.training.distributed.state import ParallelState
from chainrule.training.progress import Record
from chainrule.training.sources.base import Batch, BatchSource, Carried, chunks
from chainrule.training.trainer import NetworkTrainer, TrainSpec

SEPARABLE = {
    losses.absolute,
    losses.cross_entropy,
    losses.hinge,
    losses.logistic,
    losses.pixel_cross_entropy,
    losses.squared,
    losses.token_cross_entropy,
}
"""Losses of a row that no other row changes; for others all processes exchange their outputs."""

OPTIONS = inspect.signature(DistributedDataParallel).parameters
BUFFERS = [name for name in ("forward_sync_buffers", "broadcast_buffers") if name in OPTIONS][:1]
"""The option, by its new or its old name, that sends buffers around; ours are equal anyway."""


class Forward(nn.Module):
    """The forward pass of a batch source as a module, which DistributedDataParallel can wrap."""

    def __init__(self, model: nn.Module, source: BatchSource):
        super().__init__()
        self.model, self.source = model, source

    def forward(self, inputs: tuple[Tensor, ...], carried: Carried) -> tuple[Any, Carried]:
        return self.source.forward(self.model, inputs, carried)


class ParallelTrainer(NetworkTrainer):
    """Trains one network together with the other processes of the group."""

    state_type = ParallelState

    def __init__(self, model: nn.Module, spec: TrainSpec, group: Group):
        check(spec, group)
        separable = spec.task.minimized in SEPARABLE
        own = own_rows(spec, group) if separable else None
        super().__init__(model, spec if own is None else replace(spec, train=own))
        self.cut = own is None
        self.group, self.processes = group, group.size
        self.watched, self.interrupted = True, False
        self.threads = spec.settings.threads or max(1, self.threads // group.local_size)
        self.ticked, self.wanted = time.perf_counter(), False
        self.separable = separable
        self.parallel: nn.Module | None = None
        self.value = torch.zeros(2, dtype=torch.float64)
        self.norms = ExitStack()

    def start_epoch(self) -> None:
        super().start_epoch()
        self.watched = True
        model, thawing = self.state.model, self.spec.settings.unfreeze_every
        if self.parallel is None:
            self.norms.enter_context(synchronized(model))
        if self.parallel is None or thawing:  # it sums the gradients that are taken at first
            self.parallel = self.wrapped(model)

    def wrapped(self, model: nn.Module) -> nn.Module:
        """The model whose gradients are summed over all processes."""
        module = Forward(model, self.spec.train)
        unused = bool(self.group.largest(self.unused_parameters()))  # rows differ, so all agree
        options: dict[str, Any] = dict.fromkeys(BUFFERS, False)
        with answered():
            return DistributedDataParallel(module, find_unused_parameters=unused, **options)

    def unused_parameters(self) -> bool:
        """Whether the forward pass leaves parameters out, which costs a search in each step."""
        model = self.state.model
        with torch.random.fork_rng(devices=[]):
            batch = self.batches(min(self.state.step, self.steps - 1))  # an epoch may be at its end
        model.eval()
        output, _ = self.spec.train.forward(model, tuple(t[:1] for t in batch.inputs), {})
        super().start_epoch()
        trained = [p for p in model.parameters() if p.requires_grad]
        total = torch.stack([t.float().sum() for t in tensors(output) if t.requires_grad])
        found = torch.autograd.grad(total.sum(), trained, allow_unused=True)
        return any(g is None for g in found)

    def update(self, batch: Batch) -> Tensor:
        self.state.optimizer.zero_grad(set_to_none=True)
        number = self.spec.settings.accumulate
        parts = [batch] if number == 1 else chunks(batch, number)
        due = self.group.first and time.perf_counter() - self.ticked >= self.tick
        self.value = torch.tensor([0.0, float(due)], dtype=torch.float64)
        with answered(beside=True):
            for place, part in enumerate(parts, 1):
                self.accumulate_part(part, batch, place == len(parts))
        loss, self.wanted = self.value[0], bool(self.value[1])
        self.optimizer_step(loss)
        return loss

    def accumulate_part(self, part: Batch, batch: Batch, last: bool) -> None:
        """Add the gradient of this process's rows; the last part sums over all processes."""
        share = self.group.share(part.size)
        with self.local(last):
            with sharing(share, self.state.model, self.watched) as mode:
                output, terms, targets = self.outputs(rows_of(part, share) if self.cut else part)
            self.watched = mode.needed if last else self.watched or mode.needed
            loss, counted = self.loss_of(output, terms, targets, part, batch, share)
            self.value[0] += counted.detach()
            work = dist.all_reduce(self.value, async_op=True) if last else None
            loss.backward(torch.full_like(loss, self.group.size))
            if work is not None:
                work.wait()

    def local(self, last: bool) -> AbstractContextManager[None]:
        """No exchange of gradients before the last part."""
        assert isinstance(self.parallel, DistributedDataParallel)
        return nullcontext() if last else self.parallel.no_sync()

    def forward(self, inputs: tuple[Tensor, ...]) -> Any:
        assert self.parallel is not None
        output, self.state.carried = self.parallel(inputs, self.state.carried)
        return output

    def loss_of(
        self,
        output: Any,
        terms: list[Tensor],
        targets: tuple[Tensor, ...],
        part: Batch,
        batch: Batch,
        share: Share,
    ) -> tuple[Tensor, Tensor]:
        """What is differentiated here, and what counts in the sum over all processes."""
        mine = Batch(part.inputs, targets, share.rows)
        weight = 1.0 if share.counted else 0.0
        if self.separable:
            each = sum(terms, self.losses(output, targets))
            loss = self.mean_of(each, targets, mine, batch) * weight
            return loss, loss
        every = tuple(t.to(self.device) for t in part.targets)
        whole = gathered(output, share, self.group)
        loss = self.mean_of(self.losses(whole, every), every, part, batch)
        counted = loss * float(self.group.first)
        if terms:
            extra = self.mean_of(sum(terms[1:], terms[0]), targets, mine, batch) * weight
            loss, counted = loss + extra, counted + extra
        return loss, counted

    def due(self, now: bool) -> bool:
        if self.wanted:
            self.ticked = time.perf_counter()
        return self.wanted

    def agreed(self, now: bool) -> bool:
        wanted = [float(now and self.group.first), float(STOP[0]())]
        save, stop = self.group.sum(torch.tensor(wanted)).tolist()
        self.interrupted = bool(stop)
        return bool(save or stop)

    def interrupt(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt

    def finish_epoch(self) -> Record:
        with evaluated_together(self.group):
            return self.group.broadcast(super().finish_epoch())

    def close(self) -> None:
        self.norms.close()
        self.parallel = None


def own_rows(spec: TrainSpec, group: Group) -> BatchSource | None:
    """The source of this process's rows; None where a step needs those of the whole batch."""
    settings = spec.settings
    if settings.accumulate > 1 or spec.class_weights is not None:
        return None
    return spec.train.share(group.rank, group.size)


def rows_of(part: Batch, share: Share) -> Batch:
    """The rows of a share."""
    rows = slice(share.start, share.stop)
    return Batch(
        tuple(t[rows] for t in part.inputs), tuple(t[rows] for t in part.targets), share.rows
    )


def check(spec: TrainSpec, group: Group) -> None:
    """Refuse what several processes cannot do, before the first step."""
    settings = spec.settings
    if settings.compile:
        raise InputError("`compile` is for one process; leave it out")
    if spec.device.type != "cpu":
        raise InputError(f"several processes train on the CPU; leave out `device` {spec.device}")
    rows = len(spec.train) if spec.train.whole else settings.batch_size
    check_rows(rows, settings.accumulate, group.size)

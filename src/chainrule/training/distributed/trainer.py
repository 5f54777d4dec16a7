"""One network trained by several processes, to the weights that one process finds.

    batch t of epoch e follows from (seed, e, t), whatever the number of processes
    rank r computes Σ of the losses of its rows / Σ over the whole batch,  and its gradient
    g = Σ_r g_r                                             DistributedDataParallel, or fully_shard

DistributedDataParallel sums while the backward pass goes on, and needs a gradient of every
parameter in every step. The first step says whether it has them; a model that leaves some out, as
stochastic depth does, has its gradients summed after the backward pass.

Everything else of a step is that of `NetworkTrainer`. Li et al. (2020), VLDB 13.
"""

import gc
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
from chainrule.training.distributed.alike import check_alike
from chainrule.training.distributed.batch_norm import synchronized
from chainrule.training.distributed.draws import sharing
from chainrule.training.distributed.evaluation import evaluated_together
from chainrule.training.distributed.group import GRACE, STOP, Group, check_rows
from chainrule.training.distributed.lost import answered
from chainrule.training.distributed.outputs import gathered
from chainrule.training.distributed.state import ParallelState
from chainrule.training.distributed.sums import sum_by_hand
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
        if not group.sharded:  # the model is still whole
            check_alike(model, spec, group)
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
        self.trained: list[nn.Parameter] = []
        self.value = torch.zeros(2, dtype=torch.float64)
        self.norms = ExitStack()

    def start_epoch(self) -> None:
        super().start_epoch()
        self.watched = True
        model, thawing = self.state.model, self.spec.settings.unfreeze_every
        if self.parallel is None:
            self.norms.enter_context(synchronized(model))
        if self.parallel is None or thawing:
            self.parallel = None
            gc.collect()  # what summed other parameters would still do so
            self.trained = [p for p in model.parameters() if p.requires_grad]
            self.parallel = Forward(model, self.spec.train)

    def overlapped(self) -> nn.Module:
        """The model whose gradients are summed during the backward pass, as far as it has come."""
        module = Forward(self.state.model, self.spec.train)
        options: dict[str, Any] = dict.fromkeys(BUFFERS, False)
        with answered():
            return DistributedDataParallel(module, **options)

    def step(self, t: int) -> None:
        with answered(beside=True):
            super().step(t)

    def update(self, batch: Batch) -> Tensor:
        self.state.optimizer.zero_grad(set_to_none=True)
        number = self.spec.settings.accumulate
        parts = [batch] if number == 1 else chunks(batch, number)
        due = self.group.first and time.perf_counter() - self.ticked >= self.tick
        self.value = torch.tensor([0.0, float(due)], dtype=torch.float64)
        for place, part in enumerate(parts, 1):
            self.accumulate_part(part, batch, place == len(parts))
        self.sum_gradients(number == 1)
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
            loss.backward(torch.full_like(loss, self.scale))
            if work is not None:
                work.wait()

    @property
    def scale(self) -> int:
        """What torch divides the sum of all gradients by."""
        return self.group.size if isinstance(self.parallel, DistributedDataParallel) else 1

    def local(self, last: bool) -> AbstractContextManager[None]:
        """No exchange of gradients before the last part."""
        return nullcontext()

    def sum_gradients(self, whole: bool) -> None:
        """Sum the gradients over all processes, where the backward pass has not done it.

        whole: whether there was one backward pass, which has seen all of the step.
        """
        overlapped = isinstance(self.parallel, DistributedDataParallel)
        left_out = [k for k, p in enumerate(self.trained) if p.grad is None]
        if overlapped and not left_out:
            return
        if overlapped:
            self.check_left_out(left_out)
            for p in self.trained:  # they were not summed: it waits for those that are left out
                if p.grad is not None:
                    p.grad /= self.group.size
            self.parallel = None
            gc.collect()
            self.parallel = Forward(self.state.model, self.spec.train)
        complete = sum_by_hand(self.trained, self.group)
        if complete and whole and not overlapped:
            self.parallel = self.overlapped()

    def check_left_out(self, left_out: list[int]) -> None:
        """Refuse that the rows decide, after the first step, which parameters are left out.

        The others may wait for gradients that never come, so their word is not waited for long.
        """
        group, store = self.group, self.group.store
        place = f"left out {self.state.epoch} {self.state.step}"
        store.set(f"{place} {group.rank}", str(left_out))
        keys = [f"{place} {rank}" for rank in range(group.size)]
        end = time.monotonic() + GRACE
        while not store.check(keys) and time.monotonic() < end:
            time.sleep(0.01)
        if not store.check(keys) or len({store.get(key) for key in keys}) > 1:
            names = [name for name, p in self.state.model.named_parameters() if p.requires_grad]
            raise InputError(
                f"the forward pass left out {names[left_out[0]]} in process {group.rank} and not "
                "in the others: several processes cannot train a model whose rows choose its "
                "parameters; train in one process"
            )

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
        with answered(beside=True), evaluated_together(self.group):
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

"""The processes of a run, as torchrun's environment describes them."""

import atexit
import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from chainrule.errors import InputError
from chainrule.shares import Share
from chainrule.training.distributed.lost import SECONDS, LostProcessError, answered

GRACE = 5  # seconds in which a process that was asked to stop still waits for the others
NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


STOP: list[Callable[[], bool]] = [lambda: False]
"""Whether this process was asked to save and stop; then all of them do, after the same step."""


@dataclass
class Group:
    """This process among those of the run.

    Args:
        rank: its number, from 0.
        size: how many there are.
        local_size: how many there are on this machine.
        sharded: whether each process holds a part of the parameters only.
        store: a dictionary that all of them share.
        meetings: how often they have waited for each other.
    """

    rank: int
    size: int
    local_size: int
    sharded: bool
    store: Any
    meetings: int = 0

    @property
    def first(self) -> bool:
        """Whether this process prints, draws and writes."""
        return self.rank == 0

    def rows(self, total: int) -> tuple[int, int]:
        """The rows of a batch that this process takes; as equal as can be."""
        return bounds(self.rank, self.size, total)

    def share(self, total: int) -> Share:
        """Its share of a batch; the first row stands in for a share without rows."""
        start, stop = self.rows(total)
        counted = stop > start
        rows = (start, stop) if counted else (0, 1)
        return Share(*rows, total, self.rank, counted, summed, self.largest, self.counts)

    def sum(self, t: Tensor) -> Tensor:
        """Σ of a tensor over all processes, in place."""
        with answered():
            dist.all_reduce(t)
        return t

    def largest(self, number: float) -> int:
        """The largest of a number over all processes."""
        t = torch.tensor(float(number), dtype=torch.float64)
        with answered():
            dist.all_reduce(t, dist.ReduceOp.MAX)
        return int(t.item())

    def counts(self, number: int) -> list[int]:
        """A whole number of every process, in their order."""
        every = torch.zeros(self.size, dtype=torch.int64)
        every[self.rank] = number
        return [int(one) for one in self.sum(every)]

    def gather(self, value: Any) -> list[Any]:
        """The values of all processes, in their order."""
        found: list[Any] = [None] * self.size
        with answered():
            dist.all_gather_object(found, value)
        return found

    def broadcast(self, value: Any) -> Any:
        """The value of the first process."""
        box = [value]
        with answered():
            dist.broadcast_object_list(box)
        return box[0]

    @contextmanager
    def in_turn(self, what: str) -> Iterator[None]:
        """The first process does it, such as fetching data, then all others do it."""
        if not self.first:
            self.wait_for(what)
        yield
        if self.first:
            self.store.set(what, "done")

    def wait_for(self, what: str) -> None:
        """Wait until another process has set this key, however long it takes."""
        pause, asked = 1e-3, 0.0
        with answered():
            while not self.store.check([what]):
                if self.store.check(["fault"]):
                    raise LostProcessError("another process of the run could not go on")
                asked += pause if STOP[0]() else 0.0
                if asked > GRACE:
                    raise KeyboardInterrupt
                time.sleep(pause)
                pause = min(0.05, 1.5 * pause)

    def meet(self) -> None:
        """Wait for all processes, however long their work takes, such as that of an evaluation."""
        self.meetings += 1
        place = f"meeting {self.meetings}"
        with answered():
            if self.store.add(place, 1) == self.size:
                self.store.set(f"{place} over", "")
        self.wait_for(f"{place} over")

    def speaks(self) -> bool:
        """Whether this process is the first that tells of a fault."""
        try:
            return self.store.add("fault", 1) == 1
        except RuntimeError:
            return self.first


def bounds(rank: int, size: int, total: int) -> tuple[int, int]:
    """The rows of rank r: r b / k … (r + 1) b / k - 1, rounded down."""
    return rank * total // size, (rank + 1) * total // size


class Summed(torch.autograd.Function):
    """Σ of a tensor over all processes; so is its gradient."""

    @staticmethod
    def forward(ctx: Any, t: Tensor) -> Tensor:
        total = t.clone().contiguous()
        with answered():
            dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone().contiguous()
        with answered():
            dist.all_reduce(total)
        return total


def summed(t: Tensor) -> Tensor:
    """Σ of a tensor over all processes, differentiable."""
    return Summed.apply(t)


def check_rows(rows: int, accumulate: int, processes: int) -> None:
    """Refuse a batch, or a part of it, with fewer rows than there are processes."""
    if rows // accumulate < processes:
        parts = f" in {accumulate} parts" if accumulate > 1 else ""
        raise InputError(
            f"{rows} rows of a batch{parts} cannot be shared by {processes} processes; choose a "
            "larger `batch_size` or fewer `processes`"
        )


PRESENT: list[Group] = []
SPEAKERS: list[Group] = []  # the group that this process was in last


def current() -> Group | None:
    """The group that this process trains in, if any."""
    return PRESENT[-1] if PRESENT else None


def by_torchrun(environment: Mapping[str, str] | None = None) -> bool:
    """Whether torchrun, or a launcher that speaks its language, has started several processes."""
    found = os.environ if environment is None else environment
    given = [name for name in NEEDED if name in found]
    if "RANK" not in given or "WORLD_SIZE" not in given:
        if given and len(given) < len(NEEDED) and ("RANK" in given or "WORLD_SIZE" in given):
            raise incomplete(found)
        return False
    numbers = {name: found[name] for name in ("RANK", "WORLD_SIZE")}
    if not all(value.isdecimal() for value in numbers.values()):
        raise incomplete(found)
    rank, size = int(numbers["RANK"]), int(numbers["WORLD_SIZE"])
    if not rank < size or (size > 1 and len(given) < len(NEEDED)):
        raise incomplete(found)
    return size > 1


def incomplete(found: Mapping[str, str]) -> InputError:
    told = ", ".join(f"{name}={found[name]}" for name in NEEDED if name in found)
    return InputError(
        f"the environment does not describe a process among several ({told}); expected "
        f"{', '.join(NEEDED)} with 0 ≤ RANK < WORLD_SIZE, as torchrun sets them: start with "
        "torchrun, or unset them"
    )


def join(sharded: bool = False) -> Group | None:
    """Join the processes that torchrun has started; None where this one is alone."""
    if PRESENT or not by_torchrun():
        return current()
    with answered():
        dist.init_process_group("gloo", timeout=timedelta(seconds=SECONDS))
    local = int(os.environ.get("LOCAL_WORLD_SIZE", dist.get_world_size()))
    store = dist.PrefixStore("chainrule", dist.distributed_c10d._get_default_store())
    group = Group(dist.get_rank(), dist.get_world_size(), local, sharded, store)
    PRESENT.append(group)
    SPEAKERS[:] = [group]
    return group


def leave(together: bool = True) -> None:
    """Leave the group, after the others have come to the same place; this process goes on alone."""
    if not PRESENT:
        return
    try:
        if together:
            with answered():
                dist.barrier()
    finally:
        PRESENT.clear()
        gc.collect()  # what still holds the group would abort the process at its end
        dist.destroy_process_group()


def first_in_turn(what: str) -> AbstractContextManager[None]:
    """The first process does it before the others do, where there are several."""
    group = current()
    return nullcontext() if group is None else group.in_turn(what)


def by_script(options: dict[str, Any]) -> bool:
    """Join the processes of a script that torchrun has started; whether this is the first.

    options: of `fit`, from which `sharded` is taken out.
    """
    sharded = options.pop("sharded", False)
    if not by_torchrun():
        if sharded:
            raise InputError("`sharded` does nothing with one process; start with torchrun")
        return True
    atexit.register(leave, False)
    group = join(sharded)
    assert group is not None
    group.sharded = sharded
    return group.first


@contextmanager
def joined(sharded: bool = False) -> Iterator[Group | None]:
    """Inside the `with` block this process trains together with those that torchrun has started."""
    group = join(sharded)
    try:
        yield group
    except BaseException:
        leave(together=False)
        raise
    leave()

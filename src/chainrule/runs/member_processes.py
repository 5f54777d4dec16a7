"""Members of an ensemble spread over processes, each of which trains its share in one program.

Member k has the seed of member k wherever it is trained, so its weights are those of one process up
to rounding. Every process checkpoints its share under checkpoints/members-FIRST-LAST. A process
that dies is started again and continues from there; the others do not wait for it.

Where torchrun has started the processes, on one machine or many, it starts all of them again.

With `patience` a share stops when none of its own members improves any more; in the records of
later epochs its metrics stay as they were. The weights that are kept are the same.
"""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from safetensors.torch import load as deserialize
from safetensors.torch import save as serialize
from torch import nn

from chainrule.children import die_with_parent
from chainrule.errors import DivergenceError, InputError, NotBatchableError
from chainrule.models.feedforward.ensemble import Ensemble
from chainrule.runs.configuration import Configuration
from chainrule.runs.execute import start_from
from chainrule.runs.folder import CHECKPOINTS
from chainrule.runs.members import fit_members
from chainrule.runs.run import Run, initial_model
from chainrule.training.batched.run import BatchedProgress
from chainrule.training.checkpoint import separate
from chainrule.training.distributed.group import STOP, Group
from chainrule.training.files import WriteError

RESTARTS = 3  # of one share; then the fault is not an accident
FAULTS = {
    kind.__name__: kind for kind in (InputError, DivergenceError, NotBatchableError, WriteError)
}


@dataclass(kw_only=True)
class Reports:
    """Members first … last - 1, the records of their epochs, and their weights at the end."""

    first: int
    last: int
    ended: list[BatchedProgress] = field(default_factory=list)
    weights: bytes = b""

    @property
    def stopped(self) -> str:
        """Why its training ended; empty as long as it goes on."""
        return self.ended[-1].stopped if self.ended else ""


@dataclass(kw_only=True)
class Share(Reports):
    """Members, the process that trains them, and what it has reported."""

    process: "subprocess.Popen[bytes]"
    pipe: Connection
    restarts: int = 0
    now: BatchedProgress | None = None


def spread(run: Run, model: Ensemble) -> Generator[BatchedProgress]:
    """Train the members in place, in as many processes as the options say."""
    k = run.configuration.options.processes
    shares = [start(run, a, b, k) for a, b in parts(len(model.members), k)]
    told = 0
    try:
        while told < epochs_known(shares) or not all(share.weights for share in shares):
            if told < epochs_known(shares):
                yield merged(shares, told)
                told += 1
                continue
            listen(run, shares)
            if told == epochs_known(shares) and all(share.now for share in shares):
                yield between(shares)
    finally:
        end(shares)
    put_together(model, shares)


def parts(members: int, processes: int) -> list[tuple[int, int]]:
    """First member, and the one after the last, of every process; the first ones have most."""
    bounds = [int(part[0]) for part in torch.arange(members).tensor_split(processes)]
    return list(pairwise([*bounds, members]))


def shared(
    configuration: Configuration, model: Ensemble, data: Any, folder: Path, group: Group
) -> Generator[BatchedProgress]:
    """Train the members in place with the other processes that torchrun has started.

    None waits for the others before the end; the records of all are told then.
    """
    first, last = parts(len(model.members), group.size)[group.rank]
    own = Reports(first=first, last=last)
    place = folder / f"members-{first}-{last - 1}"
    with closing(fit_members(configuration, model, data, place, range(first, last))) as steps:
        for now in steps:
            if now.record:
                own.ended.append(now)
            yield replace(now, record=None, stopped="", members=())
            if STOP[0]():
                raise KeyboardInterrupt  # closing saves
    own.weights = weights_of(model, first, last)
    group.meet()
    shares: list[Reports] = group.gather(own)
    put_together(model, shares)
    for epoch in range(epochs_known(shares)):
        yield merged(shares, epoch)


def start(run: Run, first: int, last: int, processes: int) -> Share:
    """A process for the members first … last - 1."""
    ours, theirs = Pipe()
    threads = run.recipe.settings.threads or max(1, (os.cpu_count() or 1) // processes)
    folder = str(run.data_folder.resolve()) if run.data_folder else ""
    numbers = map(str, (theirs.fileno(), os.getpid(), first, last))
    words = [*numbers, str(run.folder.resolve()), folder]
    process = subprocess.Popen(
        [sys.executable, "-m", "chainrule.runs.member_processes", *words],
        pass_fds=[theirs.fileno()],
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
    )
    theirs.close()
    return Share(first=first, last=last, process=process, pipe=ours)


def listen(run: Run, shares: Sequence[Share]) -> None:
    """Take in one report of every process that has one; start those again that died."""
    pipes = {share.pipe: share for share in shares if not share.weights}
    for pipe in wait(list(pipes)):
        share = pipes[pipe]  # type: ignore[index]
        try:
            kind, *said = share.pipe.recv()
        except (EOFError, OSError):
            restart(run, share, len(shares))
            continue
        if kind == "progress":
            share.now = said[0]
            if said[0].record and said[0].epoch > len(share.ended):
                share.ended.append(said[0])
        elif kind == "weights":
            share.weights = said[0]
        else:
            raise FAULTS.get(kind, RuntimeError)(said[0])


def restart(run: Run, share: Share, processes: int) -> None:
    """Another process for the share of one that died; it goes on from the last checkpoint."""
    code = share.process.wait()
    share.pipe.close()
    if share.restarts == RESTARTS:
        raise InputError(
            f"the process of members {share.first} to {share.last - 1} ended {RESTARTS + 1} times "
            f"(exit code {code}), perhaps for lack of memory; free some and continue with: "
            f"chainrule resume {run.folder}"
        )
    again = start(run, share.first, share.last, processes)
    share.process, share.pipe, share.restarts = again.process, again.pipe, share.restarts + 1
    run.remarks.append(f"members {share.first} to {share.last - 1} were continued by a new process")


def end(shares: Sequence[Share]) -> None:
    """Ask every process to save and stop, and wait until it has."""
    for share in shares:
        with suppress(OSError):
            share.pipe.send("stop")
    for share in shares:
        with suppress(EOFError, OSError):
            while True:  # a process that waits to be heard cannot stop
                share.pipe.recv()
        share.process.wait()
        share.pipe.close()


def epochs_known(shares: Sequence[Reports]) -> int:
    """Epochs that every share has behind it, or has stopped before."""
    going = [len(share.ended) for share in shares if not share.stopped]
    return min(going, default=max(len(share.ended) for share in shares))


def merged(shares: Sequence[Reports], epoch: int) -> BatchedProgress:
    """The record of an epoch, with means over all members."""
    reports = [share.ended[min(epoch, len(share.ended) - 1)] for share in shares]
    members = tuple(member for report in reports for member in report.members)
    means: dict[str, Any] = {"epoch": epoch + 1}
    for name in members[0]:
        finite = [member[name] for member in members if math.isfinite(member[name])]
        means[name] = fmean(finite) if finite else math.inf
    means["seconds"] = max(float((report.record or {}).get("seconds", 0.0)) for report in reports)
    longest = max(shares, key=lambda share: len(share.ended)).ended
    last = all(share.stopped for share in shares) and epoch + 1 == len(longest)
    return replace(
        longest[epoch],
        loss=means["train_loss"],
        record=means,
        stopped=longest[-1].stopped if last else "",
        past=all(report.past for report in reports),
        members=members,
    )


def between(shares: Sequence[Share]) -> BatchedProgress:
    """A report inside an epoch: that of the slowest share."""
    reports = [share.now for share in shares if share.now is not None]
    slowest = min(reports, key=lambda report: report.fraction)
    loss = fmean(report.loss for report in reports)
    return replace(slowest, loss=loss, record=None, stopped="", members=())


def weights_of(model: Ensemble, first: int, last: int) -> bytes:
    """The weights of the members of a share."""
    return serialize(separate(nn.ModuleList(model.members[first:last]).state_dict()))


def put_together(model: Ensemble, shares: Sequence[Reports]) -> None:
    """Load the weights of every share into its members."""
    for share in shares:
        members = nn.ModuleList(model.members[share.first : share.last])
        members.load_state_dict(deserialize(share.weights))
        members.eval()


def train_share(pipe: Connection, first: int, last: int, run: Run) -> None:
    """In the process of a share: train it, report, send its weights."""
    data = run.recipe.data(run.data_folder)
    summary = run.recipe.summarize(data)
    model = initial_model(run.configuration, summary, data)
    assert isinstance(model, Ensemble)
    start_from(run.configuration, model, summary)
    folder = run.folder / CHECKPOINTS / f"members-{first}-{last - 1}"
    steps = fit_members(run.configuration, model, data, folder, range(first, last))
    with closing(steps):
        for progress in steps:
            if pipe.poll():
                return  # closing saves
            pipe.send(("progress", progress))
    pipe.send(("weights", weights_of(model, first, last)))


def main(file: str, parent: str, first: str, last: str, folder: str, data: str) -> None:
    die_with_parent(int(parent))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    with Connection(int(file)) as pipe:
        try:
            run = Run.load(folder)
            run.data_folder = Path(data) if data else None
            train_share(pipe, int(first), int(last), run)
        except BrokenPipeError:
            pass
        except Exception as error:
            pipe.send((type(error).__name__, str(error)))


if __name__ == "__main__":
    main(*sys.argv[1:])

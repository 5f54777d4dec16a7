"""The workers of a study: their names, their heartbeats, and whether they are alive."""

import os
import socket
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from chainrule.tuning import database

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

BORN = time.time_ns()  # after a reboot a worker may get the process id of a dead one


def me() -> str:
    """This worker's name."""
    return f"{machine()}:{os.getpid()}:{BORN}"


@cache
def machine() -> str:
    """This machine, or container: where a process id means the same process."""
    marks = [socket.gethostname().replace(":", "-")]
    with suppress(OSError):  # Linux only
        marks.append(Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip())
        marks.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    return "/".join(marks)


def beat(study: "Study", trials: Collection[int]) -> None:
    """Record a heartbeat of trials, by the clock of the database."""
    for trial in trials:
        study._storage.record_heartbeat(trial)  # type: ignore[attr-defined]


@contextmanager
def heartbeats(study: "Study", trials: "Sequence[Trial]") -> Iterator[None]:
    """Record heartbeats of trials while they are trained, however long a step takes."""
    over, numbers = threading.Event(), [trial._trial_id for trial in trials]

    def go_on() -> None:
        while not over.wait(database.ALIVE_EVERY):
            with suppress(Exception):  # the worker itself will meet a database that is gone
                beat(study, numbers)

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def alive(trial: "FrozenTrial", silent: Collection[int]) -> bool:
    """Whether the worker of a running trial runs, as far as this machine can know.

    silent: ids of the trials without a recent heartbeat.
    """
    worker = trial.user_attrs.get("worker")
    if worker == me():
        return True
    if worker is not None:
        place, process, _ = worker.split(":")
        if place == machine() and (int(process) == os.getpid() or not running(int(process))):
            return False
    return trial._trial_id not in silent


def running(process: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True

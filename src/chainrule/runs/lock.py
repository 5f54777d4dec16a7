"""One writer per run: a lock that ends with its process and says whose it is.

The system's lock on the file `.lock` decides; its content is for the reader of the message. Taking
over puts another file in its place, which the former writer notices before it writes again.
"""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, TypedDict

from chainrule.errors import InputError
from chainrule.training.files import leftovers, writing

LOCK = ".lock"
TRIES, PAUSE = 10, 0.02  # somebody who looks whether a run is busy holds its lock for an instant


class Signature(TypedDict):
    """What the holder of a lock writes into it."""

    process: int
    host: str
    since: str


class Lock:
    """The right to write into a folder."""

    def __init__(self, folder: Path, file: IO[str]):
        self.folder, self.file = folder, file

    @property
    def held(self) -> bool:
        """Whether the folder is still there and nobody has taken it over."""
        try:
            there = (self.folder / LOCK).stat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self.file.fileno()))

    def check(self) -> None:
        """Refuse to write where the right was lost."""
        if self.held:
            return
        if (self.folder / LOCK).exists():
            raise InputError(
                f"{self.folder} was taken over by {holder(self.folder)}; this process stops, "
                "nothing is lost"
            )
        raise InputError(
            f"the run folder {self.folder} was moved or deleted while it was being trained; "
            "training has stopped, and what the folder held went with it"
        )


@contextmanager
def locked(folder: Path, force: bool = False) -> Iterator[Lock]:
    """Hold the folder while the block runs; refused if another process trains in it.

    Args:
        folder: an existing one.
        force: take it over from its holder, which stops at its next step.
    """
    with writing(folder / LOCK):
        file = taken_over(folder) if force else opened(folder)
    lock = Lock(folder, file)
    with file:
        try:
            with writing(folder):
                for path in leftovers(folder):
                    path.unlink(missing_ok=True)
            yield lock
        finally:
            if lock.held:
                with suppress(OSError):  # a read-only disk: nobody can write there anyway
                    (folder / LOCK).unlink()


def opened(folder: Path) -> IO[str]:
    """The lock file, locked and signed."""
    while True:
        file = (folder / LOCK).open("a+", encoding="utf-8")
        if not patiently(file):
            file.close()
            raise InputError(
                f"{folder} is already being trained by {holder(folder)}; wait, or take it over "
                "with `force`"
            )
        if Lock(folder, file).held:  # and not one that its holder has just removed
            sign(file)
            return file
        file.close()


def taken_over(folder: Path) -> IO[str]:
    """A new lock file in the place of whatever is there."""
    path = folder / f"{LOCK}.{os.getpid()}"
    file = path.open("w+", encoding="utf-8")
    lock_file(file)
    sign(file)
    path.replace(folder / LOCK)
    return file


def patiently(file: IO[str]) -> bool:
    """Whether the file could be locked in a moment's time."""
    for _ in range(TRIES):
        if lock_file(file):
            return True
        time.sleep(PAUSE)
    return False


def busy(folder: Path) -> bool:
    """Whether a process trains in the folder now."""
    try:
        with (folder / LOCK).open("r", encoding="utf-8") as file:
            return not lock_file(file)  # a lock that was free is given back on closing
    except OSError:
        return False


def lock_file(file: IO[str]) -> bool:
    """Whether the file could be locked; a file system without locks lets everybody in."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def sign(file: IO[str]) -> None:
    """Write who holds the lock."""
    file.seek(0)
    file.truncate()
    since = datetime.now().isoformat(" ", "seconds")
    json.dump(Signature(process=os.getpid(), host=socket.gethostname(), since=since), file)
    file.flush()


def signature(folder: Path) -> Signature | None:
    """Who says to hold the lock; None where nobody does, or where it is just being written."""
    try:
        who = json.loads((folder / LOCK).read_text("utf-8"))
        return Signature(
            process=int(who["process"]), host=str(who["host"]), since=str(who["since"])
        )
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None


def holder(folder: Path) -> str:
    """Who holds the lock, in words."""
    who = signature(folder)
    if who is None:
        return "another process"
    return f"process {who['process']} on {who['host']} since {who['since']}"

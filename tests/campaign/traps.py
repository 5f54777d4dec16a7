"""Traps in a child process: the n-th touch of a folder kills it, or fails as a bad disk does."""

import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOUCHES = ("open", "rename", "fsync")
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT)
MARKS = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Trap:
    """Counts the touches of one kind below a folder, and springs at one of them.

    Args:
        folder: whose files count.
        kind: open (for writing), rename or fsync.
        at: the number of the touch, from 1.
        spring: what happens then; it may raise.
    """

    def __init__(self, folder: Path, kind: str, at: int, spring: Callable[[], None]):
        self.folder, self.kind, self.left, self.spring = str(folder), kind, at, spring

    def touch(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.spring()

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook of Python: sees every opening and renaming before it is done."""
        if event == "os.rename" and self.kind == "rename":
            if self.inside(arguments[0]) or self.inside(arguments[1]):
                self.touch()
        elif event == "open" and self.kind == "open":
            path, mode, flags = arguments
            if (flags & MARKS or set(str(mode or "")) & set("wax+")) and self.inside(path):
                self.touch()

    def inside(self, path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and str(Path(path).absolute()).startswith(
            self.folder
        )

    def set(self) -> None:
        """From now on, in this process."""
        flush = os.fsync

        def fsync(file: int) -> None:
            self.touch()
            flush(file)

        if self.kind == "fsync":
            os.fsync = fsync
        else:
            sys.addaudithook(self.hook)


def die() -> None:
    """As the power fails: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


def failing(number: int) -> Callable[[], None]:
    """What raises this error of the system."""

    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


def largest_file(size: int, deadly: bool) -> None:
    """No file may grow beyond this size: the write fails, or the process dies in its middle."""
    if deadly:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

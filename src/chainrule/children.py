"""Processes that another process of ours starts, and that must not outlive it."""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

SET_PARENT_DEATH_SIGNAL = 1  # of Linux: prctl(2)
LOOK_EVERY = 0.5  # seconds, where the system sends no signal


def die_with_parent(parent: int) -> None:
    """End this process as soon as its parent has ended, however that ended.

    To be called first in the child, for instance as the initializer of a pool. Linux sends the
    signal when the thread that started the child ends, so that thread must outlive the work.

    Args:
        parent: the process id of the parent, which knows it: os.getpid().
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    else:
        threading.Thread(target=watch, args=(parent,), daemon=True).start()
    end_if_orphaned(parent)  # it may have died before


def watch(parent: int) -> None:
    """Look again and again whether the parent still is the parent."""
    while True:
        end_if_orphaned(parent)
        time.sleep(LOOK_EVERY)


def end_if_orphaned(parent: int) -> None:
    """Another process has adopted this one: nobody waits for its results."""
    if os.getppid() != parent:
        os._exit(1)


def die_with_parent_process() -> None:
    """The same for a worker of `multiprocessing`, whatever thread or fork server started it.

    It waits for the pipe that `multiprocessing` keeps open as long as the parent lives. Its forked
    siblings hold that pipe too, so they end one after the other, the youngest first.
    """
    threading.Thread(
        target=exit_after, args=(multiprocessing.parent_process(),), daemon=True
    ).start()


def exit_after(parent: "BaseProcess | None") -> None:
    if parent is not None:
        parent.join()
        os._exit(1)

"""Processes that another process of ours starts, and that must not outlive it."""

import ctypes
import os
import signal
import sys
import threading
import time

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

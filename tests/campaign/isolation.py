"""A child process for every attempt, forked from one that has already imported everything."""

import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chainrule.children import die_with_parent

GIGABYTE = 2**30
LINGER = 3.0  # seconds that a child of a child may need to notice that it is alone


@dataclass(frozen=True)
class Ended:
    """How a child ended.

    value: what its action returned or raised; None if it did not come so far.
    signal: that killed it, or 0.
    code: its exit code.
    hung: whether it was killed because its time was over.
    orphans: whether processes that it started survived it.
    seconds: of CPU.
    grown: bytes of memory at its peak, beyond what it was born with.
    """

    value: Any
    signal: int
    code: int
    hung: bool
    orphans: bool
    seconds: float
    grown: int


def isolated(action: Callable[[], Any], limit: float = 60.0, memory: int = 6 * GIGABYTE) -> Ended:
    """Run the action in a forked child, and wait for its end.

    Args:
        action: called in the child; what it returns must be picklable.
        limit: seconds until the child counts as hung.
        memory: bytes that the child may allocate.
    """
    reading, writing = os.pipe()
    born_with = status("VmRSS")
    child = os.fork()
    if not child:
        os.close(reading)
        _child(action, writing, status("VmSize") + memory)
    os.close(writing)
    content, hung = _received(reading, child, time.monotonic() + limit)
    _, ended, usage = os.wait4(child, 0)
    return Ended(
        pickle.loads(content) if content else None,
        os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else 0,
        os.WEXITSTATUS(ended) if os.WIFEXITED(ended) else -1,
        hung,
        survived(child),
        usage.ru_utime + usage.ru_stime,
        max(0, usage.ru_maxrss * 1024 - born_with),
    )


def _child(action: Callable[[], Any], writing: int, address_space: int) -> None:
    """Never returns: a child must not go on with what its parent does."""
    code = 1
    try:
        die_with_parent(os.getppid())
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
        try:
            value = action()
            code = 0
        except BaseException as error:
            value = error
        with os.fdopen(writing, "wb") as file:
            file.write(pickled(value))
    finally:
        os._exit(code)


def pickled(value: Any) -> bytes:
    """The value; of an error that cannot be pickled, its words."""
    try:
        content = pickle.dumps(value)
        pickle.loads(content)
        return content
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(value).__name__}: {value}"))


def _received(reading: int, child: int, until: float) -> tuple[bytes, bool]:
    """All that the child sends before its end or its deadline."""
    parts = []
    with os.fdopen(reading, "rb", buffering=0) as file:
        while True:
            ready, _, _ = select.select([file], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                os.kill(child, signal.SIGKILL)
                return b"", True
            part = file.read(1 << 16)
            if not part:
                return b"".join(parts), False
            parts.append(part)


def survived(leader: int, linger: float = LINGER) -> bool:
    """Whether processes of the child's session outlive it; they are ended now."""
    until = time.monotonic() + linger
    while living(leader):
        if time.monotonic() > until:
            with suppress(ProcessLookupError):
                os.killpg(leader, signal.SIGKILL)
            return True
        time.sleep(0.01)
    return False


def living(leader: int) -> bool:
    """Whether a process of this group is alive; dead ones that nobody waited for do not count."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group = path.read_text().rpartition(")")[2].split()[:3]
            if int(group) == leader and state not in "ZX":
                return True
    return False


def status(name: str) -> int:
    """Bytes of memory of this process, as the system counts them."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0

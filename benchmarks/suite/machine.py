"""What machine it is, and what else it does while it is measured: read from /proc."""

import ctypes
import os
import platform
import resource
import sys
import time
from collections.abc import Iterable
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
BUSY = 0.05  # of all cores, taken by other processes
DRIFT = 0.10  # of the rate of a product, from the first rounds to the last


class Clock(NamedTuple):
    """Processor seconds since the machine started, of everybody, and the time of day."""

    busy: float
    stolen: float
    wall: float


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def facts(threads: int) -> dict[str, Any]:
    """What a reader needs to judge the figures."""
    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "cores": cores(),
        "threads": threads,
        "python": platform.python_version(),
        "torch": version("torch"),
        "date": str(date.today()),
    }


def processor() -> str:
    """The name that the processor gives itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def clock() -> Clock | None:
    """What /proc/stat says now; nothing where there is none."""
    try:
        first = Path("/proc/stat").read_text("ascii").split("\n", 1)[0]
    except OSError:
        return None
    user, nice, system, _, _, irq, soft, stolen = (int(n) / TICKS for n in first.split()[1:9])
    return Clock(user + nice + system + irq + soft, stolen, time.perf_counter())


def others(before: Clock | None, after: Clock | None, own: float) -> float | None:
    """Share of the cores that was busy with other processes, or given to other machines."""
    if before is None or after is None:
        return None
    taken = (after.busy - before.busy) - own + (after.stolen - before.stolen)
    return max(0.0, taken / (after.wall - before.wall) / (os.cpu_count() or 1))


def own_seconds() -> float:
    """Processor time of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def peak_bytes() -> int:
    """The most memory that this process, or one it started, has held at once."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return max(status("VmHWM"), children)


def status(name: str) -> int:
    """A line of /proc/self/status in bytes; what getrusage says outlives an exec."""
    try:
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0) * 1024


def forget_peak() -> None:
    """Count the peak from here on, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", "ascii")
    except OSError:
        return


def give_back_memory() -> None:
    """Return what glibc keeps of freed memory to the system, where there is glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Of those that are installed."""
    return {name: version(name) for name in sorted(set(packages)) if not missing((name,))}


def missing(packages: tuple[str, ...]) -> list[str]:
    """Those that are not installed."""
    found = []
    for name in packages:
        try:
            version(name)
        except PackageNotFoundError:
            found.append(name)
    return found

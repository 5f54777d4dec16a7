"""Devices, and the settings of torch and the process that make training fast and repeatable."""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import local
from typing import NamedTuple

import torch
from torch import Tensor, nn

from chainrule.errors import InputError

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
GLIBC_MOST = 2**25  # the largest threshold that glibc adapts to by itself
KEPT_BYTES = 2**30  # freed blocks up to this size stay with the process while it trains
MOST_THREADS = max(64, os.cpu_count() or 1)
SMALL_STEP = 20e6  # operations; below it a second thread was measured to cost more than it gives


def choose(name: str = "auto") -> torch.device:
    """The named device, or the best one present: CUDA, then MPS, then the CPU."""
    present = ["cpu"]
    if torch.backends.mps.is_available():
        present.insert(0, "mps")
    if torch.cuda.is_available():
        present.insert(0, "cuda")
    if name == "auto":
        return torch.device(present[0])
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    number = torch.cuda.device_count() if device.type == "cuda" else 1
    if device.type not in present or (device.index or 0) >= number:
        raise InputError(f"there is no device {name!r} here; present: auto, {', '.join(present)}")
    return device


class Switches(NamedTuple):
    """Settings of torch and the process that training changes and restores."""

    threads: int
    flushed: bool
    deterministic: bool
    warned: bool
    kept: int

    def set(self) -> None:
        torch.set_num_threads(self.threads)
        torch.set_flush_denormal(self.flushed)
        if (self.deterministic, self.warned) != deterministic():  # the call imports the compiler
            torch.use_deterministic_algorithms(self.deterministic, warn_only=self.warned)
        keep_freed_memory(self.kept)


class Open(local):
    """The original switches, then those of each active run; Python threads have their own.

    torch keeps the number of threads and the flushing of denormals for each of them.
    """

    def __init__(self) -> None:
        self.switches: list[Switches] = []


OPEN = Open()


@contextmanager
def prepared(device: torch.device, threads: int) -> Iterator[None]:
    """Flush denormals, set the threads, keep freed memory, ask CUDA for repeatable kernels.

    All of it is undone afterwards, except that glibc's adaptive threshold is left at its largest
    value. Runs may overlap and end in any order: the most recent active one decides, and after the
    last one everything is as before the first.

    Products of numbers below 1e-38 (denormals) take a slow path of the processor; a network with
    decayed weights meets them in every step.
    """
    check_threads(threads)
    active = OPEN.switches
    if not active:
        active.append(present_switches())
    before = active[-1]
    cuda = device.type == "cuda"
    if cuda:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    mine = Switches(threads, True, cuda or before.deterministic, cuda or before.warned, KEPT_BYTES)
    active.append(mine)
    try:
        mine.set()
        yield
    finally:
        del active[next(place for place, other in enumerate(active) if other is mine)]
        active[-1].set()
        if len(active) == 1:
            active.clear()


def check_threads(threads: int) -> None:
    """Refuse more threads than a process can start; torch ends the process without a word."""
    if not 0 <= threads <= MOST_THREADS:
        raise InputError(
            f"`threads` must be at most {MOST_THREADS} on this machine, got {threads}; 0 leaves "
            "the choice to the library"
        )


def present_switches() -> Switches:
    """The current settings; glibc cannot report its threshold, so its largest one is assumed."""
    return Switches(
        torch.get_num_threads(),
        (torch.tensor(1e-39) * 1).item() == 0,
        *deterministic(),
        GLIBC_MOST,
    )


def deterministic() -> tuple[bool, bool]:
    """Whether torch takes repeatable kernels only, and whether it only warns of others."""
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
    )


def keep_freed_memory(size: int) -> None:
    """Let glibc keep freed blocks of up to this size instead of returning them to the system.

    A step frees all its activations, and the next asks for them again: without this the system
    hands out fresh zeroed pages in every step, which costs ResNet-20 a sixth of its time.
    """
    mallopt = glibc_mallopt()
    if mallopt is not None and mallopt(M_MMAP_THRESHOLD, size):  # older ones refuse large sizes
        mallopt(M_TRIM_THRESHOLD, min(2 * size, 2**31 - 1))


@cache
def glibc_mallopt() -> Callable[[int, int], int] | None:
    """The function that sets them; None where there is none, as with musl."""
    return getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None


@contextmanager
def memory_kept() -> Iterator[None]:
    """Keep freed memory, unless a run of this thread does it already."""
    if OPEN.switches:
        yield
        return
    keep_freed_memory(KEPT_BYTES)
    try:
        yield
    finally:
        keep_freed_memory(GLIBC_MOST)


def threads_for(model: nn.Module, batch_size: int) -> int:
    """One thread for a step too small to be worth sharing (6 operations per weight and example)."""
    dense = all(p.ndim <= 2 for p in model.parameters())
    weights = sum(p.numel() for p in model.parameters())
    return 1 if dense and 6 * weights * batch_size < SMALL_STEP else torch.get_num_threads()


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """bfloat16 products for `mixed`, nothing for `full`."""
    if precision == "full":
        return nullcontext()
    if device.type == "cuda" and not torch.cuda.is_bf16_supported():
        raise InputError("this GPU has no bfloat16; use `precision` full")
    return torch.autocast(device.type, dtype=torch.bfloat16)


def resident(tensors: tuple[Tensor, ...], device: torch.device) -> tuple[Tensor, ...]:
    """The tensors on the device, unless they would take more than half of its free memory."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        if sum(t.numel() * t.element_size() for t in tensors) > free / 2:
            return tensors
    return tuple(t.to(device) for t in tensors)


def place(model: nn.Module, device: torch.device) -> None:
    """Move the model; convolution kernels are laid out channels-last, which runs faster.

    By `to`, as `contiguous` leaves kernels of one channel alone: their strides pass for both.
    """
    model.to(device)
    for parameter in model.parameters():
        if parameter.ndim == 4:
            parameter.data = parameter.data.to(memory_format=torch.channels_last)

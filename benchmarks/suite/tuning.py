"""What whoever tunes a PyTorch loop by hand does before it starts."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from chainrule.training.devices import KEPT_BYTES, keep_freed_memory

TRIALS = 12  # steps with each number of threads


def tuned() -> None:
    """Denormals flushed, freed memory kept by the process."""
    torch.set_flush_denormal(True)
    keep_freed_memory(KEPT_BYTES)


def take_onednn() -> None:
    """float32 products by oneDNN, as torch's public switch allows, where they stay exact.

    On processors with AMX the same switch rounds the factors to bfloat16; there nothing changes.
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    probe = torch.full((64, 64), 1 + 2**-12) @ torch.ones(64, 64)
    if not bool((probe == 64 * (1 + 2**-12)).all()):
        torch.set_float32_matmul_precision(before)


@contextmanager
def onednn_products() -> Iterator[None]:
    """The same inside the `with` block."""
    before = torch.get_float32_matmul_precision()
    try:
        take_onednn()
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def quiet_warnings() -> None:
    """In the processes that this one starts, too."""
    os.environ["PYTHONWARNINGS"] = "ignore"
    warnings.simplefilter("ignore")


def choose_threads(step: Callable[[], object]) -> None:
    """The quicker of one thread and all of them, by trying both in turns."""
    most = torch.get_num_threads()
    seconds: dict[int, list[float]] = {1: [], most: []}
    for _ in range(TRIALS):
        for threads, times in seconds.items():
            torch.set_num_threads(threads)
            began = time.perf_counter()
            step()
            times.append(time.perf_counter() - began)
    torch.set_num_threads(min(seconds, key=lambda threads: sorted(seconds[threads])[TRIALS // 2]))


def batches(x: Tensor, y: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """One epoch in a new order, rows gathered by index."""
    for rows in torch.randperm(len(x)).split(size):
        yield x.index_select(0, rows), y.index_select(0, rows)


def endless(x: Tensor, y: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    while True:
        yield from batches(x, y, size)


def alike(model: nn.Module, other: nn.Module) -> nn.Module:
    """The model with the initial weights of the other, which has the same network.

    Where the layers are listed in another order, matrices are matched by their shape, and vectors,
    which do not start at random, keep their values.
    """
    mine, given = list(model.parameters()), list(other.parameters())
    if [p.shape for p in mine] != [p.shape for p in given]:
        mine, given = by_shape(mine), by_shape(given)
    with torch.no_grad():
        for target, source in zip(mine, given, strict=True):
            target.copy_(source)
    return model


def by_shape(parameters: list[nn.Parameter]) -> list[nn.Parameter]:
    """Matrices and kernels, those of one shape in their order."""
    return sorted((p for p in parameters if p.ndim > 1), key=lambda p: tuple(p.shape))


def count(model: nn.Module) -> int:
    """Trained numbers."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)

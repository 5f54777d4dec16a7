"""Which library multiplies float32 matrices: MKL, or oneDNN where MKL leaves half the CPU unused.

On processors of other makers than Intel, MKL takes its AVX2 kernels; oneDNN, with which torch runs
convolutions anyway, takes AVX-512 everywhere. On a Zen 5 core it does 230 instead of 107 billion
operations a second, in the same float32: only the order of the sums differs. Small products, and
the blocks of the fused attention kernel, start faster with MKL and stay there.

torch's name of the switch is `set_float32_matmul_precision("medium")`. It also allows oneDNN to
round the factors to bfloat16, which it does only on processors with AMX; a probe makes sure that
this one does not. The choice follows from the machine and the shapes alone, so the same seed gives
the same bits on the same machine.
"""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn

PROBE = 64  # the side of the probe's matrices, above the least that oneDNN is given
SMALL = 20e6  # operations of a product, forward and backward, below which MKL was faster
PIXELS = 16  # to a place: images shrink on their way through a network, or come in patches
AMD = "AuthenticAMD"
MKL, ONEDNN = "highest", "medium"  # torch's words

SWITCHED: ContextVar[bool] = ContextVar("SWITCHED", default=False)
"""Whether this Python thread is the one that has switched to oneDNN."""


@contextmanager
def float_products(wanted: str) -> Iterator[None]:
    """`MKL` or `ONEDNN` for float32 products inside the `with` block.

    The setting is one for all Python threads, so training holds a lock while it is changed, and
    only the thread that has `SWITCHED` may switch back for a while. A user who has chosen a
    precision keeps it.
    """
    before = present()
    if before == wanted or before not in (MKL, ONEDNN) or not onednn_is_faster():
        yield
        return
    token = SWITCHED.set(wanted == ONEDNN or SWITCHED.get())
    try:
        torch.set_float32_matmul_precision(wanted)
        yield
    finally:
        torch.set_float32_matmul_precision(before)
        SWITCHED.reset(token)


def present() -> str:
    """torch's setting; empty where it was made by `torch.backends`, which torch cannot report."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return ""


def worth_onednn(model: nn.Module, rows: int) -> bool:
    """Whether the model's products are large enough."""
    return mean_operations(model, rows, axes=(2,)) >= SMALL


def mean_operations(model: nn.Module, rows: int, axes: tuple[int, ...] = (2, 3, 4, 5)) -> float:
    """6 operations per row and weight, on average over the weights of so many axes."""
    sizes = [p.numel() for p in model.parameters() if p.ndim in axes]
    return 6 * rows * sum(sizes) / max(len(sizes), 1)


def places(x: Tensor, model: nn.Module) -> int:
    """Where the weights of an average layer meet an example: its tokens, or parts of an image."""
    if x.ndim == 2 and not x.is_floating_point():
        return x.shape[1]
    if x.ndim == 4 and any(isinstance(part, nn.Conv2d) for part in model.modules()):
        return max(1, x[0, 0].numel() // PIXELS)
    return 1


@cache
def onednn_is_faster() -> bool:
    """AVX-512 on a processor that MKL does not use in full, and products exact in float32."""
    fast = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    usable = torch.backends.mkldnn.is_available() and not torch.cuda.is_available()
    return fast and usable and maker() == AMD and exact()


def maker() -> str:
    """The maker of the processor as it calls itself, where the system tells."""
    listed = Path("/proc/cpuinfo")
    text = listed.read_text() if listed.exists() else platform.processor()
    return AMD if AMD in text else ""


def exact() -> bool:
    """Whether the switch leaves float32 products in float32: 1 + 2⁻¹² would round to 1."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(ONEDNN)
    try:
        found = torch.full((PROBE, PROBE), 1 + 2**-12) @ torch.ones(PROBE, PROBE)
    finally:
        torch.set_float32_matmul_precision(before)
    return bool((found == PROBE * (1 + 2**-12)).all())

"""The linear recurrence h = a h + b over 1,024 steps, forward and backward, (16, 1024, 64)."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.suite.contract import Contender, Quality, Race, Ready, Work
from benchmarks.suite.tuning import tuned

Function = Callable[[Tensor, Tensor, Tensor], Tensor]
REPEATS = 5  # recurrences in a unit


def recurrence(function: Function, kind: str, batch: int, length: int, units: int) -> Ready:
    """|a| is below one; the loss is a product with a fixed direction."""
    torch.manual_seed(0)
    dtype = torch.complex64 if kind == "complex" else torch.float32
    a = torch.rand(batch, length, units)
    if dtype.is_complex:
        a = torch.polar(a, 2 * math.pi * torch.rand(a.shape))
    b = torch.randn(batch, length, units, dtype=dtype).requires_grad_()
    a, h, gradient = a.requires_grad_(), torch.zeros_like(b[:, 0]), torch.randn_like(b)

    def once() -> None:
        a.grad = b.grad = None
        function(a, b, h).backward(gradient)

    def unit() -> None:
        for _ in range(REPEATS):
            once()

    def quality(_: int) -> float:
        once()
        assert a.grad is not None and b.grad is not None
        return float(a.grad.abs().double().mean() + b.grad.abs().double().mean())

    return Ready(unit, quality, trial=once)


def chainrule(**sizes: int) -> Ready:
    from chainrule.nn.kernels.scan import scan

    tuned()
    return recurrence(scan, **sizes)  # type: ignore[arg-type]


def sliced(**sizes: int) -> Ready:
    """A loop over slices made beforehand: no zeroed copy of a and b in every step."""
    tuned()

    def loop(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
        states = []
        for a_t, b_t in zip(a.unbind(1), b.unbind(1), strict=True):
            h = a_t * h + b_t
            states.append(h)
        return torch.stack(states, 1)

    return recurrence(loop, **sizes)  # type: ignore[arg-type]


def work(kind: str, batch: int, length: int, units: int) -> Work:
    """Forward: read a and b, write h; backward: read a, h and the gradient, write two."""
    numbers = batch * length * units
    words = numbers * (2 if kind == "complex" else 1)
    return Work(0.0, REPEATS * 8 * 4.0 * words, REPEATS * batch * length, "steps")


SIZES = {"batch": 16, "length": 1024, "units": 64}
ROW = Race(
    unit=f"{REPEATS} recurrences",
    contenders={
        "chainrule": Contender(chainrule),
        "hand-tuned PyTorch loop": Contender(sliced),
    },
    cases={kind: {"kind": kind, **SIZES} for kind in ("real", "complex")},
    tiny={"kind": "complex", "batch": 2, "length": 6, "units": 3},
    quality=Quality("mean size of both gradients", 1e-3),
    work=work,
)

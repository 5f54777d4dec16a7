"""Claim: a scan of T steps takes about 4 √T sequential operations, a loop T (J 5.2).

    blocks of L = ⌊√T⌋ ≤ 64 steps, B = ⌊T/L⌋ of them, R = T - L B left over:
    operations    2 (L - 1) + B + L + R  ≈  4 √T        products    (3 L - 1) B + R  <  3 T

Measured: the multiplications that torch calls in a forward pass for T = 25 … `max_length`, and the
numbers multiplied per unit; the largest difference from the formulas, which for the loop are T and
T.
Bound: exactly 0; these are counts.
The notes' O(log T) is the depth of a tree with as many processors as steps; on a few cores it is
better to have few operations on large arrays. Blelloch (1990). Nothing is timed here, since times
depend on the machine.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.nn.scan import MAX_BLOCK, loop, scan

BATCH, UNITS = 2, 3
PRODUCTS = ("mul", "addcmul")


class Count(TorchDispatchMode):
    """Counts calls of multiplications and the numbers they multiply."""

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.products = 0, 0

    def __torch_dispatch__(
        self, operation: Any, types: Any, arguments: Any = (), options: Any = None
    ) -> Any:
        result = operation(*arguments, **(options or {}))
        name = operation.overloadpacket.__name__.rstrip("_")
        if name in PRODUCTS and result.is_floating_point():
            self.calls += 1
            self.products += result.numel() // (BATCH * UNITS)
        return result


def check(max_length: int = 2025) -> Verdict:
    """The scan of the linear layers, and the loop.

    Args:
        max_length: Largest number of steps T.
    """
    return verdict(scan, max_length)


def broken() -> Verdict:
    """The loop in place of the scan."""
    return verdict(loop, 400)


def near() -> Near:
    """Formulas that forget a part."""

    def without_rest(T: int) -> tuple[int, int]:
        whole = T - T % min(math.isqrt(T), MAX_BLOCK)
        return formula(whole)

    def off_by_one(T: int) -> tuple[int, int]:
        operations, products = formula(T)
        return operations + 1, products

    return {
        "without the rest R": lambda: verdict(scan, 400, without_rest),
        "one operation more": lambda: verdict(scan, 400, off_by_one),
    }


def formula(T: int) -> tuple[int, int]:
    """Operations and products of a scan in blocks."""
    L = min(math.isqrt(T), MAX_BLOCK)
    B, R = divmod(T, L)
    return 2 * (L - 1) + B + L + R, (3 * L - 1) * B + R


def verdict(
    recurrence: Callable[..., Tensor],
    longest: int,
    expected: Callable[[int], tuple[int, int]] = formula,
) -> Verdict:
    """Counts by length."""
    lengths = [T for T in (25, 64, 150, 400, 1000) if longest > T] + [max(25, longest)]
    scans, loops = ([count(way, T) for T in lengths] for way in (recurrence, loop))
    gaps = [
        abs(found - count)
        for T, by_scan, by_loop in zip(lengths, scans, loops, strict=True)
        for found, count in zip((*by_scan, *by_loop), (*expected(T), T, T), strict=True)
    ]
    steps, fine = [float(T) for T in lengths], [float(T) for T in range(25, lengths[-1] + 1)]
    return Verdict(
        quantity="|operations counted - formula|",
        measured=float(max(gaps)),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="A scan does in 4 √T operations what a loop does in T",
            x_label="steps T",
            y_label="sequential operations",
            curves={"loop: T": (fine, fine), "scan: 4 √T": (fine, [4 * T**0.5 for T in fine])},
            points={
                "loop": (steps, [float(calls) for calls, _ in loops]),
                "scan": (steps, [float(calls) for calls, _ in scans]),
            },
            bounds={"tree on T processors: log₂ T": (fine, [math.log2(T) for T in fine])},
            log="xy",
        ),
        details={"products per step at the longest": scans[-1][1] / lengths[-1]},
    )


def count(way: Callable[..., Tensor], T: int) -> tuple[int, int]:
    """Calls and products of one forward pass."""
    a, b = torch.full((BATCH, T, UNITS), 0.5), torch.ones(BATCH, T, UNITS)
    with Count() as counted:
        way(a, b, torch.zeros(BATCH, UNITS))
    return counted.calls, counted.products

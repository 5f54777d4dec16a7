"""The limits of this machine, measured in the same run: products in both precisions, and memory.

No training step can be quicker than its multiplications at the rate of the best product, nor than
its bytes at the rate of the memory.
"""

import time
from collections.abc import Callable

import torch

from benchmarks.suite.contract import Work
from benchmarks.suite.tuning import onednn_products

SIDE = 2048
WORDS = 2**25  # 128 MB each: beyond every cache
REPEATS = 3
Limits = dict[str, float]


def measurement() -> Callable[[], Limits]:
    """Rates per second: float32, bfloat16 (multiply-adds count twice) and bytes.

    Of the libraries that multiply float32 matrices for torch the quicker one is the limit.
    """
    a, b, c = torch.rand(3, SIDE, SIDE)
    low_a, low_b, low_c = (t.bfloat16() for t in (a, b, c))
    x, y = torch.rand(WORDS), torch.rand(WORDS)

    def multiply() -> None:
        torch.mm(a, b, out=c)

    def by_onednn() -> None:
        with onednn_products():
            multiply()

    def measure() -> Limits:
        return {
            "float32": 2 * SIDE**3 / min(quickest(product) for product in (multiply, by_onednn)),
            "bfloat16": 2 * SIDE**3 / quickest(lambda: torch.mm(low_a, low_b, out=low_c)),
            "memory": 3 * 4 * WORDS / quickest(lambda: y.add_(x)),
        }

    return measure


def quickest(call: Callable[[], object]) -> float:
    """Seconds of the best of some."""
    best = float("inf")
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - began)
    return best


def floor(work: Work, limits: Limits, precision: str) -> tuple[float, str]:
    """The least seconds that the work can take here, and what binds."""
    candidates = {
        f"{precision} products": work.flops / limits[precision],
        "memory": work.bytes / limits["memory"],
    }
    binding = max(candidates, key=lambda name: candidates[name])
    return candidates[binding], binding

"""Claim: a scan shortens T steps in sequence to 3 √T, a tree to 2 log₂ T, for 3 T products (J 5.2).

    h_t = a_t ⊙ h_{t-1} + b_t         depth                   products
    loop                              T                       T
    scan in ⌊√T⌋ blocks               3 √T - 2                3 T - √T
    tree of pairs of steps            2 log₂ T - 1            3 T - log₂ T - 2

Measured: the library's three functions for T = 64, 256, … up to `max_length`, powers of 4, with the
depth of every number followed through torch's operations; depth counts products that need each
other's results. The largest difference from the table, for one unit.
Bound: exactly 0; these are counts, and for powers of 4 all blocks and halves come out even.
The notes say O(log n) runtime in place of O(n): this is the depth of the tree, the time on n
processors. With one processor the tree does three times the work of the loop. Blelloch (1990).
Nothing is timed, since times depend on the machine.
"""

import math
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.critical_path import Cost, critical_path
from chainrule.nn.kernels.scan import associative_scan, loop, scan

Formula = Callable[[int], tuple[float, float]]
WAYS: Mapping[str, Callable[..., Tensor]] = {"loop": loop, "scan": scan, "tree": associative_scan}
FORMULAS: Mapping[str, Formula] = {
    "loop": lambda T: (T, T),
    "scan": lambda T: (3 * math.isqrt(T) - 2, 3 * T - math.isqrt(T)),
    "tree": lambda T: (2 * math.log2(T) - 1, 3 * T - math.log2(T) - 2),
}


def check(max_length: int = 1024) -> Verdict:
    """The library's loop, scan and tree.

    Args:
        max_length: Largest number of steps T, at least 64 and at most 4096.
    """
    return verdict(max_length, WAYS, FORMULAS)


def broken() -> Verdict:
    """The loop in place of the tree."""
    return verdict(64, {**WAYS, "tree": loop}, FORMULAS)


def near() -> Near:
    """Other constants; the notes' O(log n) taken as log₂ n, and as a saving of products."""

    def other(name: str, depth: float = 1.0, products: float = 1.0) -> Verdict:
        def formula(T: int) -> tuple[float, float]:
            exact = FORMULAS[name](T)
            return depth * exact[0], products * exact[1]

        return verdict(256, WAYS, {**FORMULAS, name: formula})

    return {
        "3 √T × 0.9": lambda: other("scan", depth=0.9),
        "3 √T × 1.1": lambda: other("scan", depth=1.1),
        "2 log₂ T × 0.9": lambda: other("tree", depth=0.9),
        "2 log₂ T × 1.1": lambda: other("tree", depth=1.1),
        "3 T products × 0.9": lambda: other("tree", products=0.9),
        "depth log₂ T": lambda: other("tree", depth=0.5),
        "the tree needs T products": lambda: other("tree", products=1 / 3),
    }


def verdict(
    longest: int, ways: Mapping[str, Callable[..., Tensor]], formulas: Mapping[str, Formula]
) -> Verdict:
    """Depth and products by length."""
    lengths = [T for T in (64, 256, 1024, 4096) if max(64, longest) >= T]
    found = {name: [cost(way, T) for T in lengths] for name, way in ways.items()}
    gaps = [
        abs(count - expected)
        for name, costs in found.items()
        for T, both in zip(lengths, costs, strict=True)
        for count, expected in zip(both, formulas[name](T), strict=True)
    ]
    fine = [2 ** (k / 4) for k in range(24, int(4 * math.log2(lengths[-1])) + 1)]
    steps = [float(T) for T in lengths]
    return Verdict(
        quantity="|depth or products counted - formula|",
        measured=float(max(gaps)),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="How many products must wait for each other",
            x_label="steps T",
            y_label="depth",
            curves={
                "T": (fine, fine),
                "3 √T - 2": (fine, [3 * T**0.5 - 2 for T in fine]),
                "2 log₂ T - 1": (fine, [2 * math.log2(T) - 1 for T in fine]),
            },
            points={
                name: (steps, [float(depth) for depth, _ in costs]) for name, costs in found.items()
            },
            log="xy",
        ),
        details={
            f"products per step, {name}": costs[-1].products / lengths[-1]
            for name, costs in found.items()
        },
    )


def cost(way: Callable[..., Tensor], T: int) -> Cost:
    """Of one unit in one sequence."""
    a, b = torch.full((1, T, 1), 0.5), torch.ones(1, T, 1)
    return critical_path(way, a, b, torch.zeros(1, 1))

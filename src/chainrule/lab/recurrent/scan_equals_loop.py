"""Claim: scans in blocks and in a tree give the states and gradients of the loop (J 5.2).

    h_t = a_t ⊙ h_{t-1} + b_t,   t = 1 … T

Measured: the largest difference of h, ∂ℓ/∂a, ∂ℓ/∂b and ∂ℓ/∂h_0 between each scan and the loop that
autograd differentiates, for lengths of 1 … `max_length`, real and complex a of |a| up to 1,
relative to the largest entry of each.
Bound: 1e-12; where |a| ≤ 1 each of T steps passes on the rounding errors of 1.1e-16 of the steps
before it, and adds one.
Blelloch (1990); Martin and Cundy (2018).
"""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.kernels.scan import associative_scan, loop, scan

BOUND = 1e-12
BATCH, UNITS = 2, 4
Recurrence = Callable[[Tensor, Tensor, Tensor], Tensor]


def check(max_length: int = 1000, seed: int = 0) -> Verdict:
    """The scan that all linear layers use, and the tree of depth log T.

    Args:
        max_length: Longest sequence.
    """
    return verdict({"blocks": scan, "tree": associative_scan}, max_length, seed)


def broken() -> Verdict:
    """Blocks of 32 steps that do not pass on their last state."""

    def forgetful(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
        blocks = list(zip(a.split(32, 1), b.split(32, 1), strict=True))
        return torch.cat([scan(*block, h if k == 0 else None) for k, block in enumerate(blocks)], 1)

    return verdict({"blocks": forgetful}, 100, 0)


def near() -> Near:
    """Another decay or another start, in each of the two."""

    def decay(way: Recurrence, factor: float) -> Verdict:
        return verdict({"": lambda a, b, h: way(factor * a, b, h)}, 33, 0)

    def start(way: Recurrence, factor: float) -> Verdict:
        return verdict({"": lambda a, b, h: way(a, b, factor * h)}, 33, 0)

    return {
        **ten_percent("blocks: a", partial(decay, scan)),
        **ten_percent("blocks: h_0", partial(start, scan)),
        **ten_percent("tree: a", partial(decay, associative_scan)),
        **ten_percent("tree: h_0", partial(start, associative_scan)),
    }


def verdict(ways: Mapping[str, Recurrence], longest: int, seed: int) -> Verdict:
    """States and gradients by length."""
    generator = torch.Generator().manual_seed(seed)
    lengths = sorted({n for n in (1, 2, 5, 10, 17, 33, 100, 300) if n < longest} | {longest})
    kinds = {"real": torch.float64, "complex": torch.complex128}
    found = {
        f"{way}, {name} a": [difference(recurrence, T, kind, generator) for T in lengths]
        for way, recurrence in ways.items()
        for name, kind in kinds.items()
    }
    worst = max(map(max, found.values()))
    steps = [float(T) for T in lengths]
    return Verdict(
        quantity="largest relative difference from the loop",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Both scans give the result of the loop, up to rounding",
            x_label="steps T",
            y_label="largest relative difference",
            points={name: (steps, differences) for name, differences in found.items()},
            bounds={
                "bound": (steps, [BOUND] * len(steps)),
                "one rounding error": (steps, [torch.finfo(torch.float64).eps / 2] * len(steps)),
            },
            log="xy",
        ),
    )


def difference(
    recurrence: Recurrence, T: int, kind: torch.dtype, generator: torch.Generator
) -> float:
    """Of the states and all gradients of a random loss."""
    a, b, above = (torch.randn(BATCH, T, UNITS, dtype=kind, generator=generator) for _ in range(3))
    a = a / a.abs() * torch.rand(a.shape, dtype=torch.float64, generator=generator) ** 0.1
    h = torch.randn(BATCH, UNITS, dtype=kind, generator=generator)
    sides = []
    for way in (recurrence, loop):
        leaves = [t.clone().requires_grad_() for t in (a, b, h)]
        states = way(*leaves)
        loss = (states * above.conj()).real.sum() if kind.is_complex else (states * above).sum()
        sides.append([states.detach(), *torch.autograd.grad(loss, leaves)])
    return max(
        ((one - other).abs().max() / other.abs().max()).item()
        for one, other in zip(*sides, strict=True)
    )

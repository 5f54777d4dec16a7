"""Claim: a scan in blocks gives the states and gradients of the loop (J 5.2).

    h_t = a_t ⊙ h_{t-1} + b_t,   t = 1 … T

Measured: the largest difference of h, ∂ℓ/∂a, ∂ℓ/∂b and ∂ℓ/∂h_0 between the scan and the loop that
autograd differentiates, for lengths of 1 … `max_length`, real and complex a of |a| up to 1,
relative to the largest entry of each.
Bound: 1e-12; where |a| ≤ 1 each of T steps passes on the rounding errors of 1.1e-16 of the steps
before it, and adds one.
Blelloch (1990); Martin and Cundy (2018).
"""

from collections.abc import Callable

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.scan import loop, scan

BOUND = 1e-12
BATCH, UNITS = 2, 4
Recurrence = Callable[[Tensor, Tensor, Tensor], Tensor]


def check(max_length: int = 1000, seed: int = 0) -> Verdict:
    """The scan that all linear layers use.

    Args:
        max_length: Longest sequence.
    """
    return verdict(scan, max_length, seed)


def broken() -> Verdict:
    """Blocks of 32 steps that do not pass on their last state."""

    def forgetful(a: Tensor, b: Tensor, h: Tensor) -> Tensor:
        blocks = list(zip(a.split(32, 1), b.split(32, 1), strict=True))
        return torch.cat([scan(*block, h if k == 0 else None) for k, block in enumerate(blocks)], 1)

    return verdict(forgetful, 100, 0)


def near() -> Near:
    """Another decay, or another start."""
    return {
        **ten_percent("a", lambda factor: verdict(lambda a, b, h: scan(factor * a, b, h), 33, 0)),
        **ten_percent("h_0", lambda factor: verdict(lambda a, b, h: scan(a, b, factor * h), 33, 0)),
    }


def verdict(recurrence: Recurrence, longest: int, seed: int) -> Verdict:
    """States and gradients by length."""
    generator = torch.Generator().manual_seed(seed)
    lengths = sorted({n for n in (1, 2, 5, 10, 17, 33, 100, 300) if n < longest} | {longest})
    kinds = {"real": torch.float64, "complex": torch.complex128}
    found = {
        name: [difference(recurrence, T, kind, generator) for T in lengths]
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
            title="The scan gives the same result as the loop, up to rounding",
            x_label="steps T",
            y_label="largest relative difference",
            points={f"{name} a": (steps, ds) for name, ds in found.items()},
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

"""Claim: a Jacobian takes one forward sweep per input or one reverse sweep per output (L, J 3.1).

    J = ∂f/∂x ∈ ℝᵐˣⁿ     forward mode   J e_i,   i = 1 … n:     3 n passes
                         reverse mode   Jᵀ e_k,  k = 1 … m:     3 m + 1 passes

Measured: multiply-adds of the library's tangents and co-states while they compute the Jacobian of
networks with n + m = `total`, in forward passes; the largest distance from the formulas. A sweep is
three passes, z with ḣ and Ẇ, or z with p and ∇W; reverse mode needs the states of all layers first.
Bound: exactly 0 for the counts. Both Jacobians must agree to 1e-12 of their largest entry, rounding
in double precision.
A loss has m = 1 output and a million inputs, so networks are trained in reverse mode
(L "Backprop as Reverse-Mode Differentiation"). Linnainmaa (1976).
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

from chainrule.autodiff import Layer, costates, dense, forward, states, tangents
from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.multiply_adds import torch_multiply_adds

ROUNDING = 1e-12
BLOCKS = [dense("tanh"), dense("tanh"), dense("identity")]


def check(total: int = 32, hidden: int = 16, seed: int = 0) -> Verdict:
    """Networks of 1, 4, 7 … inputs.

    Args:
        total: Inputs plus outputs, at least 2.
        hidden: Units of both hidden layers.
    """
    return verdict(total, hidden, seed, passes)


def broken() -> Verdict:
    """A reverse sweep per input and a forward sweep per output."""
    return verdict(16, 8, 0, lambda n, m: passes(m, n))


def near() -> Near:
    """Sweeps that leave out a pass."""
    return {
        "3 m, without the states": lambda: verdict(16, 8, 0, lambda n, m: (3 * n, 3 * m)),
        "2 n, without ḣ": lambda: verdict(16, 8, 0, lambda n, m: (2 * n, 3 * m + 1)),
    }


def passes(n: int, m: int) -> tuple[int, int]:
    """Forward and reverse mode, in forward passes: 3 n and 3 m + 1."""
    return 3 * n, 3 * m + 1


def verdict(
    total: int, hidden: int, seed: int, formula: Callable[[int, int], tuple[int, int]]
) -> Verdict:
    """Costs by the number of inputs against 3 n and 3 m + 1."""
    if total < 2:
        raise InputError(f"`total` must be at least 2, one input and one output, got {total}")
    generator = torch.Generator().manual_seed(seed)
    inputs = list(range(1, total, max(1, total // 10)))
    found = [costs(n, total - n, hidden, generator) for n in inputs]
    expected = [formula(n, total - n) for n in inputs]
    off = max(
        max(abs(ahead - forward), abs(back - reverse))
        for (ahead, back, _), (forward, reverse) in zip(found, expected, strict=True)
    )
    apart = max(difference for _, _, difference in found)
    x = [float(n) for n in inputs]
    return Verdict(
        quantity="|forward passes - (3 n or 3 m + 1)|",
        measured=off,
        relation="=",
        bound=0.0,
        conditions={"both Jacobians agree": apart <= ROUNDING},
        picture=Picture(
            title="Forward mode for few inputs, reverse mode for few outputs, such as one loss",
            x_label=f"inputs n of {total} inputs and outputs",
            y_label="cost of the Jacobian in forward passes",
            curves={
                "forward mode": (x, [float(ahead) for ahead, _ in expected]),
                "reverse mode": (x, [float(back) for _, back in expected]),
            },
            points={
                "forward mode": (x, [ahead for ahead, _, _ in found]),
                "reverse mode": (x, [back for _, back, _ in found]),
            },
            marks={"n = m": total / 2},
        ),
        details={"difference of the Jacobians": apart},
    )


def costs(n: int, m: int, hidden: int, generator: torch.Generator) -> tuple[float, float, float]:
    """Multiply-adds forward and in reverse, in passes, and how far their results differ."""
    layers = [
        Layer(*(torch.randn(*s, dtype=torch.float64, generator=generator) for s in ((b, a), (b,))))
        for a, b in pairwise([n, hidden, hidden, m])
    ]
    x = torch.randn(1, n, dtype=torch.float64, generator=generator)
    still = [Layer(*map(torch.zeros_like, layer)) for layer in layers]
    columns: list[Tensor] = []
    rows: list[Tensor] = []

    def ahead() -> None:
        for e_i in torch.eye(n, dtype=x.dtype):
            columns.append(tangents(layers, x, still, e_i[None], "tanh")[0])

    def back() -> None:
        seen = states(BLOCKS, layers, x)
        for e_k in torch.eye(m, dtype=x.dtype):
            rows.append(costates(BLOCKS, layers, seen, e_k[None]).p[0][0])

    once = torch_multiply_adds(lambda: forward(layers, x, "tanh"))
    passes = torch_multiply_adds(ahead) / once, torch_multiply_adds(back) / once
    J = torch.stack(rows)
    return *passes, ((torch.stack(columns, 1) - J).abs().max() / J.abs().max()).item()

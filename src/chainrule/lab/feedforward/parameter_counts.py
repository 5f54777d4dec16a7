"""Claim: a d-M-1 network has (d + 2) M parameters, 784-256-128-10 has 235,146 (L 10).

    (d + 1) M hidden weights and biases + M output weights = (d + 2) M            with b_0 = 0
    Σ_l (d_{l-1} + 1) d_l:      785 · 256 + 257 · 128 + 129 · 10 = 235,146

Measured: the largest difference between the formulas and the number of parameters of the library's
models.
Bound: exactly 0; counts are whole numbers.
"""

from collections.abc import Callable

import torch

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP

WIDTHS = (1, 2, 5, 10, 30, 100, 300)
INPUTS = (1, 10, 100, 784)
DIGITS = 235_146


def check() -> Verdict:
    """Without the bias of the output, as in the notes."""
    return verdict(output_bias=False)


def broken() -> Verdict:
    """With the bias of the output there is one more."""
    return verdict(output_bias=True)


def near() -> Near:
    """Formulas that are almost right."""
    return {
        "(d + 1) M": lambda: verdict(False, lambda d, M: (d + 1) * M),
        "(d + 2) M + 1": lambda: verdict(False, lambda d, M: (d + 2) * M + 1),
        "as printed: b ∈ ℝⁿ": lambda: verdict(False, lambda d, M: d * M + d + M),
    }


def formula(d: int, M: int) -> int:
    """(d + 2) M."""
    return (d + 2) * M


@torch.random.fork_rng()
def verdict(output_bias: bool, expected: Callable[[int, int], int] = formula) -> Verdict:
    """Parameters of models of many sizes."""
    counted = {
        d: [held(MLP(d, [M], 1, initialization="zero", output_bias=output_bias)) for M in WIDTHS]
        for d in INPUTS
    }
    wrong = max(
        abs(count - expected(d, M))
        for d, counts in counted.items()
        for M, count in zip(WIDTHS, counts, strict=True)
    )
    digits = held(MLP(784, [256, 128], 10, initialization="zero"))
    wrong = max(wrong, abs(digits - DIGITS))
    widths = [float(M) for M in WIDTHS]
    return Verdict(
        quantity="|parameters counted - formula|",
        measured=float(wrong),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="A shallow network has d + 2 parameters per hidden unit",
            x_label="hidden units M",
            y_label="parameters",
            curves={f"d = {d}": (widths, [(d + 2) * M for M in widths]) for d in INPUTS},
            points={
                **{f"d = {d}": (widths, [float(c) for c in all_]) for d, all_ in counted.items()},
                "784-256-128-10": ([256.0 + 128.0], [float(digits)]),
            },
            log="xy",
        ),
        details={"784-256-128-10": float(digits)},
    )


def held(model: MLP) -> int:
    return sum(parameter.numel() for parameter in model.parameters())

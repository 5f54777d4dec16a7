"""Claim: attention costs n² d multiply-adds, a recurrent layer n d²; they meet at n = d (L 8).

    C(Q Kᵀ, A V) = 2 n² d,     C(U z_t, V x_t, n times) = 2 n d²,     C(projections) = 4 n d²

Measured: the multiply-adds of both layers, counted while they run, for lengths n below and above
the hidden size d; the largest difference from the formulas.
Bound: exactly 0; counts are whole numbers.
L's comparison leaves out the projections to Q, K, V and back. They cost twice as much as the
recurrent layer at any length, so with them attention always costs more. Vaswani et al. (2017),
table 1.
"""

import torch
from torch import nn

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.lab.helpers.multiply_adds import multiply_adds
from chainrule.models.attention.windowed_attention import WindowedAttention
from chainrule.models.recurrent.elman import Elman
from chainrule.nn.attention import SelfAttention

LENGTHS = (8, 16, 32, 64, 128, 256, 512)


def check(hidden_size: int = 64) -> Verdict:
    """Every token attends to every token.

    Args:
        hidden_size: Hidden size d of both layers.
    """
    return verdict(
        hidden_size, SelfAttention(hidden_size, num_heads=4 if hidden_size % 4 == 0 else 1)
    )


def broken() -> Verdict:
    """Every token attends only to its neighbors."""
    return verdict(64, WindowedAttention(64, num_heads=4, window=4))


def near() -> Near:
    """Formulas that are off by a little."""
    layer = SelfAttention(64, num_heads=4)
    return {
        **ten_percent("2 n² d", lambda factor: verdict(64, layer, factor)),
        **ten_percent("2 n d²", lambda factor: verdict(64, layer, recurrence=factor)),
    }


def verdict(width: int, layer: nn.Module, scale: float = 1.0, recurrence: float = 1.0) -> Verdict:
    """Counts against formulas."""
    recurrent = Elman(width, width)
    pairs, steps, worst = [], [], 0.0
    for n in LENGTHS:
        x = torch.zeros(1, n, width)
        pairs.append(multiply_adds(layer, x) - 4 * n * width**2)
        steps.append(multiply_adds(recurrent, x))
        attending = scale * 2 * n**2 * width
        worst = max(
            worst, abs(pairs[-1] - attending), abs(steps[-1] - recurrence * 2 * n * width**2)
        )
    lengths = [float(n) for n in LENGTHS]
    return Verdict(
        quantity="|multiply-adds counted - formula|",
        measured=float(worst),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="Attention costs more than recurrence for sequences longer than d",
            x_label="length n",
            y_label="multiply-adds",
            curves={
                "attention, 2 n² d": (lengths, [2 * n**2 * width for n in lengths]),
                "recurrent layer, 2 n d²": (lengths, [2 * n * width**2 for n in lengths]),
            },
            points={
                "attention, counted": (lengths, list(map(float, pairs))),
                "recurrent layer, counted": (lengths, list(map(float, steps))),
            },
            marks={"n = d": float(width)},
            log="xy",
        ),
        details={"projections of attention, per token": 4.0 * width**2},
    )

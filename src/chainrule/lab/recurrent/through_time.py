"""Claim: backpropagation through time, written out, gives autograd's gradients (J 5).

    δ_t = (∂ℓ_t/∂z_t + Uᵀ δ_{t+1}) ⊙ φ'_t,    ∂ℓ/∂U = Σ_t δ_t z_{t-1}ᵀ,   ∂ℓ/∂V = Σ_t δ_t x_tᵀ

Measured: the largest difference of ∂ℓ/∂U, ∂ℓ/∂V, ∂ℓ/∂b and ∂ℓ/∂x, of a loss at every tenth step of
an Elman network, over lengths of 1 … `max_length`, relative to the largest entry of each gradient.
Bound: 1e-12. Both sides add the same few thousand products in double precision in different orders;
each has a relative error of 1.1e-16.
Werbos (1990). L "RNN: Training".
"""

from collections.abc import Callable

import torch

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.recurrent.elman import Elman, Gradients, backpropagation_through_time

BOUND = 1e-12
INPUTS, UNITS, BATCH = 3, 12, 4
Recursion = Callable[..., Gradients]


def check(max_length: int = 60, seed: int = 0) -> Verdict:
    """The whole recursion.

    Args:
        max_length: Longest sequence.
    """
    return verdict(backpropagation_through_time, max_length, seed)


def broken() -> Verdict:
    """U in place of its transpose."""
    return verdict(lambda U, *rest: backpropagation_through_time(U.T, *rest), 60, 0)


def near() -> Near:
    """Recurrent weights off by 10 % on the way back."""

    def scaled(factor: float) -> Verdict:
        return verdict(lambda U, *rest: backpropagation_through_time(factor * U, *rest), 20, 0)

    return ten_percent("Uᵀ", scaled)


def verdict(recursion: Recursion, longest: int, seed: int) -> Verdict:
    """By hand against autograd, by length."""
    lengths = sorted({1, 2, 5, 20, longest})
    pairs = [both(recursion, length, seed + length) for length in lengths]
    worst = max(
        ((a - b).abs().max() / b.abs().max().clamp_min(1e-300)).item()
        for by_hand, automatic in pairs
        for a, b in zip(by_hand, automatic, strict=True)
        if b.any()
    )
    by_hand, automatic = pairs[-1]
    steps = [float(t + 1) for t in range(lengths[-1])]
    norms, expected = (g.x.norm(dim=(0, 2)).tolist() for g in (by_hand, automatic))
    return Verdict(
        quantity="largest relative difference from autograd",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Gradients through time, by hand and by autograd",
            x_label="step t",
            y_label="‖∂ℓ/∂x_t‖ of a loss at every tenth step",
            curves={"autograd": (steps, expected)},
            points={"by hand": (steps, norms)},
        ),
    )


def both(recursion: Recursion, steps: int, seed: int) -> tuple[Gradients, Gradients]:
    """The gradients by hand and by autograd of a random loss."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = Elman(INPUTS, UNITS).double()
        x = torch.randn(BATCH, steps, INPUTS, dtype=torch.float64)
        by_step = torch.randn(BATCH, steps, UNITS, dtype=torch.float64)
    by_step[:, [t for t in range(steps) if (t + 1) % 10 and t + 1 < steps]] = 0
    z, _ = layer(x.requires_grad_())
    loss = (z * by_step).sum()
    automatic = Gradients(*torch.autograd.grad(loss, (layer.U, layer.V, layer.b, x)))
    with torch.no_grad():
        return recursion(layer.U, layer.V, x, z, by_step), automatic

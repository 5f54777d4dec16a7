"""Claim: recall never raises the energy (J 1.4).

    W = Wᵀ and diag W = 0   ⇒   H(x after one update) ≤ H(x),    H(x) = -½ xᵀ W x + bᵀ x

Measured: the largest increase over the single updates of the model's own recall, from random
states, with stored patterns and random thresholds.
Bound: exactly 0, and every flip lowers H. With n a power of two, all entries are
multiples of 1/n, which double precision adds without rounding.
"""

import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.connectionism.hopfield import Hopfield, energy, hebb, sweep


def check(units: int = 128, patterns: int = 12, states: int = 200, seed: int = 0) -> Verdict:
    """Follow the energy unit by unit through two sweeps.

    Args:
        units: Units n, a power of two.
        patterns: Stored patterns.
        states: Random initial states.
    """
    if units < 2 or units & (units - 1):
        raise InputError(f"`units` must be a power of two for exact sums, got {units}")
    generator = torch.Generator().manual_seed(seed)
    return verdict(hebb(random_signs(patterns, units, generator)), states, generator)


def broken() -> Verdict:
    """Weights that are not symmetric."""
    generator = torch.Generator().manual_seed(0)
    signs = random_signs(128, 128, generator).triu(1)
    return verdict(signs / 128, 50, generator)


def near() -> Near:
    """Weights that are almost as Hebb's rule makes them."""
    generator = torch.Generator().manual_seed(0)
    W = hebb(random_signs(12, 128, generator)).double()
    return {
        "lower half of W × 0.9": lambda: verdict(W.triu() + 0.9 * W.tril(), 50, generator),
        "diagonal of -0.05": lambda: verdict(W - 0.05 * torch.eye(128), 50, generator),
    }


def verdict(W: Tensor, states: int, generator: torch.Generator) -> Verdict:
    """The largest increase of H over all updates."""
    n = len(W)
    model = Hopfield(n).double()
    model.W.copy_(W)
    model.b.copy_(torch.randint(-4, 5, (n,), generator=generator) / n)
    start = random_signs(states, n, generator)
    x = trajectory(model, start)
    H = energy(model.W, model.b, x.flatten(0, 1)).unflatten(0, x.shape[:2])
    flipped = (x.diff(dim=0) != 0).any(-1)
    steps = [float(step) for step in range(len(H))]
    return Verdict(
        quantity="largest increase of H",
        measured=H.diff(dim=0).max().item(),
        relation="≤",
        bound=0.0,
        conditions={
            "every flip lowers H": bool((H.diff(dim=0)[flipped] < 0).all()),
            "two sweeps of the model end there": torch.equal(model(model(start)), x[-1]),
        },
        picture=Picture(
            title="The energy never increases",
            x_label="single-unit updates",
            y_label="energy H",
            curves={
                "highest": (steps, H.max(1).values.tolist()),
                "mean": (steps, H.mean(1).tolist()),
                "lowest": (steps, H.min(1).values.tolist()),
            },
            marks={"one sweep": float(n)},
        ),
        details={"updates": float(flipped.numel()), "flips": float(flipped.sum())},
    )


def trajectory(model: Hopfield, x: Tensor, sweeps: int = 2) -> Tensor:
    """The states after 0, 1, 2, … updates: (updates + 1, states, n)."""
    states = [x]
    for i in torch.arange(len(model.b)).repeat(sweeps).split(1):
        states.append(sweep(model.W, model.b, states[-1], i))
    return torch.stack(states)


def random_signs(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    return torch.randint(0, 2, (rows, columns), generator=generator).double() * 2 - 1

"""Claim: Deep Sets with an output per element are equivariant: f(PX) = P f(X) (J 7.1, J 7.2).

    f(X)_m = ρ(x_m, Σ_k φ(x_k))    ⇒    f(PX) = P f(X)   and so   P f(PX) = P² f(X)

Measured: the largest entry of f(PX) - P f(X) over all permutations of M elements, for sum, mean and
maximum, in double precision.
Bound: 1e-12; sums in another order round differently.
J prints f(X) = P f(PX). By the above this holds only if P² = I: not for a cycle of three, as the
picture shows. Zaheer et al. (2017).
"""

from functools import partial
from itertools import permutations

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.geometric.equivariant_deep_sets import EquivariantDeepSets
from chainrule.nn.set_pooling import POOLS

ROUNDING = 1e-12


def check(size: int = 5, seed: int = 0) -> Verdict:
    """f(PX) = P f(X).

    Args:
        size: Elements M of the set.
    """
    return verdict(size, seed, as_printed=False)


def broken() -> Verdict:
    """f(X) = P f(PX), as printed."""
    return verdict(5, 0, as_printed=True)


def near() -> Near:
    """Elements that tell a little of their place."""
    return {
        f"places of size {size}": partial(verdict, 4, 0, as_printed=False, size=size)
        for size in (1e-3, 1e-6)
    }


@torch.no_grad()
def verdict(elements: int, seed: int, as_printed: bool, size: float = 0.0) -> Verdict:
    """Both equations over all permutations."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x = torch.randn(elements, 3, dtype=torch.float64)
        functions = [
            EquivariantDeepSets(MLP(3, [16], 8), MLP(3 + 8, [16], 2), pool).double()
            for pool in POOLS
        ]
    orders = torch.tensor(list(permutations(range(elements))))
    P = torch.eye(elements, dtype=x.dtype)[orders]
    right, printed = torch.zeros(2, len(P), dtype=x.dtype)
    places = size * torch.arange(elements, dtype=x.dtype)[:, None]
    for f in functions:
        f_x, f_px = f(x[None] + places), f(P @ x + places)
        right = right.maximum((f_px - P @ f_x).abs().amax((1, 2)))
        printed = printed.maximum((f_x - P @ f_px).abs().amax((1, 2)))
    worst = (printed if as_printed else right).max().item()
    period = torch.tensor([float(order_of(p)) for p in P])
    return Verdict(
        quantity="largest |f(PX) - P f(X)|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Equivariant: f(PX) = P f(X) for all P, f(X) = P f(PX) only if P² = I",
            x_label="least r with Pʳ = I",
            y_label="largest difference between the two sides",
            points={
                "f(PX) and P f(X)": ((period - 0.08).tolist(), right.clamp_min(1e-17).tolist()),
                "f(X) and P f(PX), as printed": (
                    (period + 0.08).tolist(),
                    printed.clamp_min(1e-17).tolist(),
                ),
            },
            bounds={"rounding": ([1.0, float(period.max())], [ROUNDING] * 2)},
            log="y",
        ),
        details={
            "permutations": float(len(P)),
            "largest difference, as printed": printed.max().item(),
        },
    )


def order_of(P: Tensor) -> int:
    """The least r with Pʳ = I."""
    power, r = P, 1
    while not power.equal(torch.eye(len(P), dtype=P.dtype)):
        power, r = power @ P, r + 1
    return r

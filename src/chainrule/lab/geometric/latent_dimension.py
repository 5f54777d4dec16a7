"""Claim: a sum of fewer than M features does not determine a set of M numbers (J 7.2).

    s = Σ_m φ(x_m) ∈ ℝᵈ,  d < M:   the sets with the same s form a surface of dimension M - d, along
    which max_m x_m changes;   d ≥ M: only isolated sets share a sum, so ρ can find the maximum

So ρ(Σ φ) with continuous φ and d < M features must give wrong maxima, whatever ρ is.
Measured: for Deep Sets with a smooth random φ and random sets of M = 2 … 5 numbers, d = 1 … 6: the
dimension of the kernel of ∂Σφ/∂x, minus max(M - d, 0); the largest difference.
Bound: exactly 0. Singular values below 10⁻⁹ of the largest count as 0; a generic Jacobian has none.
For d < M a walk along the surface must change the maximum by at least 1e-4 while no feature of the
library's pooled sum moves by more than 1e-8.
J says more realistic mappings need d ≥ M. Wagstaff et al. (2019).
"""

from functools import partial

import torch
from torch import Tensor, nn

from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.geometric.deep_sets import DeepSets

SMALL, STILL, MOVED = 1e-9, 1e-8, 1e-4
SIZES, WIDTHS = (2, 3, 4, 5), (1, 2, 3, 4, 5, 6)
STEPS, LENGTH = 25, 0.005


def check(sets: int = 3, seed: int = 0) -> Verdict:
    """d independent features.

    Args:
        sets: Random sets of each size.
    """
    return verdict(sets, seed)


def broken() -> Verdict:
    """All features of an element the same function."""
    return verdict(1, 0, copies=True)


def near() -> Near:
    """One feature that is a combination of the others, or sets with one repeated number."""
    return {
        "one dependent feature": partial(verdict, 1, 0, dependent=True),
        "one number twice in each set": partial(verdict, 1, 0, repeated=True),
    }


def verdict(
    sets: int, seed: int, copies: bool = False, dependent: bool = False, repeated: bool = False
) -> Verdict:
    """Kernels of the Jacobian, and walks along them, by d and M."""
    generator = torch.Generator().manual_seed(seed)
    wrong, still, least = 0, 0.0, torch.inf
    change: dict[int, list[float]] = {M: [] for M in SIZES}
    for M in SIZES:
        for d in WIDTHS:
            phi = Features(d, generator, copies, dependent)
            pooled = DeepSets(phi, nn.Identity())
            moves = []
            for _ in range(sets):
                x = apart(M, generator)
                if repeated:
                    x[-1] = x[0]
                J = jacobian(pooled, x)
                sigma = torch.linalg.svdvals(J)
                kernel = M - int((sigma > SMALL * sigma[0]).sum())
                wrong = max(wrong, abs(kernel - max(M - d, 0)))
                y = walked(pooled, x) if d < M and not repeated else x
                still = max(still, (total(pooled, y) - total(pooled, x)).abs().max().item())
                moves.append((y.max() - x.max()).abs().item())
            change[M].append(max(moves))
            if d < M:
                least = min(least, *moves)
    widths = [float(d) for d in WIDTHS]
    return Verdict(
        quantity="|dimension of the kernel - (M - d)|",
        measured=float(wrong),
        relation="=",
        bound=0.0,
        conditions={
            "the walks keep the sum within 1e-8": still <= STILL,
            "the walks change the maximum for d < M": least >= MOVED,
        },
        picture=Picture(
            title="With fewer features than elements, equal sums hide different maxima",
            x_label="features d of the sum",
            y_label="change of the maximum at a constant sum",
            points={f"M = {M}": (widths, found) for M, found in change.items()},
            bounds={"determined": ([1.0, 6.0], [0.0, 0.0])},
        ),
        details={"smallest change of the maximum, d < M": least, "largest change of a sum": still},
    )


class Features(nn.Module):
    """φ_k(x) = sin(k x + c_k), smooth and independent; or dependent ones, for the violations."""

    def __init__(self, d: int, generator: torch.Generator, copies: bool, dependent: bool):
        super().__init__()
        k = torch.ones(d) if copies else torch.arange(1.0, d + 1)
        c = torch.zeros(d) if copies else 6 * torch.rand(d, generator=generator)
        self.k, self.c, self.dependent = k.double(), c.double(), dependent and d > 1

    def forward(self, x: Tensor) -> Tensor:
        found = (self.k * x + self.c).sin()
        if self.dependent:
            found = torch.cat([found[..., :-1], found[..., :-1].sum(-1, keepdim=True)], -1)
        return found


def apart(M: int, generator: torch.Generator) -> Tensor:
    """M numbers of (0, π), one in each part, far enough from one another."""
    lots = 0.3 + 0.4 * torch.rand(M, generator=generator, dtype=torch.float64)
    return torch.pi * (torch.arange(M) + lots) / M


def total(pooled: DeepSets, x: Tensor) -> Tensor:
    """Σ_m φ(x_m)."""
    return pooled(x[None, :, None])[0]


def jacobian(pooled: DeepSets, x: Tensor) -> Tensor:
    """∂Σφ/∂x, (d, M)."""
    return torch.autograd.functional.jacobian(lambda x: total(pooled, x), x)


def walked(pooled: DeepSets, x: Tensor) -> Tensor:
    """A set with the same sum and another maximum: steps in the kernel, each corrected."""
    aim, along = total(pooled, x), torch.eye(len(x), dtype=x.dtype)[int(x.argmax())]
    for _ in range(STEPS):
        J = jacobian(pooled, x)
        along = along - torch.linalg.pinv(J) @ (J @ along)
        along = along / along.norm()
        x = x + LENGTH * along
        for _ in range(3):
            x = x - torch.linalg.pinv(jacobian(pooled, x)) @ (total(pooled, x) - aim)
    return x

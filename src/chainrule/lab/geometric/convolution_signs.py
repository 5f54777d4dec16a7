"""Claim: x ∗ y on a graph depends on the signs of the eigenvectors; a filter does not (J 7.5).

    U' = U S,  S = diag(±1):      x ∗' y = U S (Uᵀx ⊙ Uᵀy) = x ∗ y - 2 Σ_{s_k = -1} x̂_k ŷ_k u_k
    G(L) x = U' G(Λ) U'ᵀ x = U G(Λ) Uᵀ x

Eigenvectors are unique only up to their signs (or a rotation, where a frequency repeats), so the
convolution of two signals is defined only together with a basis. A filter has its gains by
frequency, and the signs cancel.
Measured: random signals on random graphs, the library's basis and the same with a random half of
the signs flipped; the largest of two: the difference between the two convolutions and twice the
flipped components, and the change of a filter, both relative to the largest entry.
Bound: 1e-12, rounding in double precision. The convolutions must differ by at least a tenth.
Shuman et al. (2013).
"""

import networkx
import torch
from torch import Tensor

from chainrule.graphs import from_networkx
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.laplacian import (
    FourierBasis,
    convolution,
    fourier_basis,
    laplacian,
    spectral_filter,
)

ROUNDING, VISIBLE = 1e-12, 0.1
NODES = 24


def check(graphs: int = 20, seed: int = 0) -> Verdict:
    """Twice the flipped components.

    Args:
        graphs: Random graphs.
    """
    return verdict(graphs, seed, factor=2.0)


def broken() -> Verdict:
    """No difference, as if x ∗ y were a property of the graph."""
    return verdict(20, 0, factor=0.0)


def near() -> Near:
    """Other multiples of the flipped components, and no sign flipped."""
    return {
        **ten_percent("2", lambda scale: verdict(4, 0, factor=2 * scale)),
        "no sign flipped": lambda: verdict(4, 0, factor=2.0, flipped=0.0),
    }


def verdict(graphs: int, seed: int, factor: float, flipped: float = 0.5) -> Verdict:
    """Convolutions and filters in two bases."""
    generator = torch.Generator().manual_seed(seed)
    worst, least = 0.0, torch.inf
    for number in range(graphs):
        known = networkx.connected_watts_strogatz_graph(NODES, 4, 0.5, seed=1000 * seed + number)
        x, y = torch.randn(2, NODES, 1, generator=generator, dtype=torch.float64)
        basis = fourier_basis(laplacian(from_networkx(known, x)))
        signs = 1 - 2 * (torch.rand(NODES, generator=generator) < flipped).double()
        other = FourierBasis(basis.U * signs, basis.frequencies)
        one, two = convolution(basis, x, y), convolution(other, x, y)
        changed = basis.U @ ((signs < 0)[:, None] * (basis.U.T @ x) * (basis.U.T @ y))
        gains = (-basis.frequencies).exp()
        here, there = (spectral_filter(b, gains, x) for b in (basis, other))
        worst = max(worst, apart(one - two, factor * changed, one), apart(here, there, x))
        least = min(least, apart(one, two, one))
    return Verdict(
        quantity="largest relative error of convolution and filter",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"the convolutions differ by a tenth": least >= VISIBLE},
        picture=Picture(
            title="Other signs of the eigenvectors give another x ∗ y, but the same filter",
            x_label="value at a node in one basis",
            y_label="in the other basis",
            points={
                "x ∗ y": (one.flatten().tolist(), two.flatten().tolist()),
                "filter e^{-L} x": (here.flatten().tolist(), there.flatten().tolist()),
            },
            bounds={"equal": ([-1.5, 1.5], [-1.5, 1.5])},
        ),
        details={"smallest difference of x ∗ y": least},
    )


def apart(a: Tensor, b: Tensor, scale: Tensor) -> float:
    """The largest |a - b|, relative to the largest entry of a third."""
    return ((a - b).abs().max() / scale.abs().max()).item()

"""Claim: a polynomial of the Laplacian filters graph frequencies without eigenvectors (J 7.5).

    Σ_k α_k Lᵏ x = U (Σ_k α_k Λᵏ) Uᵀ x,       L = U Λ Uᵀ

Measured: the largest difference between powers of the sparse Laplacian and the product in the
Fourier basis, over random graphs of four kinds, signals and coefficients of up to 8 terms, for
L_sym and in Chebyshev's basis for L̃, relative to the largest entry; double precision.
Bound: 1e-10: eigenvalues up to 2 to the 7th power, times the rounding of a basis of 40 vectors.
Defferrard et al. (2016), Shuman et al. (2013).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from chainrule.data.datasets.random_graphs import CLASSES, random_graph
from chainrule.graphs import Graph
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.geometric.chebyshev import chebyshev
from chainrule.models.geometric.polynomial import polynomial_filter
from chainrule.nn.kernels.sparse import SparseMatrix
from chainrule.nn.laplacian import (
    fourier_basis,
    laplacian,
    normalized_laplacian,
    scaled_laplacian,
    spectral_filter,
)

ROUNDING = 1e-10
SHOWN = torch.tensor([0.2, 3.0, -3.6, 1.1], dtype=torch.float64)  # a band in the middle


def check(graphs: int = 20, terms: int = 8, seed: int = 0) -> Verdict:
    """The eigenvectors of the Laplacian whose powers are taken.

    Args:
        graphs: Random graphs.
        terms: Coefficients of the polynomial.
    """
    return verdict(graphs, terms, seed, normalized_laplacian)


def broken() -> Verdict:
    """The eigenvectors of D - A for powers of I - D^{-1/2} A D^{-1/2}."""
    return verdict(20, 8, 0, laplacian)


def near() -> Near:
    """The same eigenvectors with eigenvalues lower by 1."""
    return {"λ - 1 for λ": lambda: verdict(4, 8, 0, scaled_laplacian)}


def verdict(
    graphs: int, terms: int, seed: int, basis_of: Callable[[Graph], SparseMatrix]
) -> Verdict:
    """Powers against eigenvectors."""
    generator = torch.Generator().manual_seed(seed)
    from_law = np.random.default_rng(seed)
    worst = 0.0
    for number in range(graphs):
        graph = random_graph(number % len(CLASSES), from_law)
        x = torch.randn(graph.num_nodes, 3, generator=generator, dtype=torch.float64)
        alpha = torch.randn(terms, generator=generator, dtype=torch.float64)
        graph = Graph(x, graph.edge_index)
        L, basis = normalized_laplacian(graph), fourier_basis(basis_of(graph))
        by_powers = polynomial_filter(L, alpha, x)
        worst = max(
            worst, apart(by_powers, spectral_filter(basis, gain(alpha, basis.frequencies), x))
        )
        scaled = fourier_basis(scaled_laplacian(graph))
        T = torch.stack(chebyshev(scaled_laplacian(graph), x, terms))
        angles = scaled.frequencies.clamp(-1, 1).arccos()
        gains = (angles[:, None] * torch.arange(terms)).cos() @ alpha
        by_recursion = torch.einsum("k,knw->nw", alpha, T)
        worst = max(worst, apart(by_recursion, spectral_filter(scaled, gains, x)))
    x_hat, y_hat = (basis.U.T @ signal for signal in (x, polynomial_filter(L, SHOWN, x)))
    seen = (x_hat * y_hat).sum(1) / x_hat.square().sum(1)
    fine = torch.linspace(0, 2, 81, dtype=torch.float64)
    return Verdict(
        quantity="largest relative difference, powers - eigenvectors",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Three products with a sparse matrix filter every frequency of a graph",
            x_label="frequency λ",
            y_label="gain",
            curves={"Σ α_k λᵏ": (fine.tolist(), gain(SHOWN, fine).tolist())},
            points={"of Σ α_k Lᵏ x": (basis.frequencies.tolist(), seen.tolist())},
        ),
        details={"graphs": float(graphs)},
    )


def gain(alpha: Tensor, frequencies: Tensor) -> Tensor:
    """Σ_k α_k λᵏ."""
    return frequencies[:, None] ** torch.arange(len(alpha)) @ alpha


def apart(y: Tensor, other: Tensor) -> float:
    """The largest difference, relative to the largest entry."""
    return ((y - other).abs().max() / y.abs().max()).item()

"""Claim: a graph's normalized adjacency Ā never lengthens a vector: its norm is 1 (J 7.4).

    Ā = D̄^{-1/2} (A + I) D̄^{-1/2},   xᵀ(I - Ā)x = Σ_{edges} (x_m/√d̄_m - x_n/√d̄_n)² ≥ 0

Measured: over random graphs of four kinds, the largest excess of a singular value of Ā over 1, and
of ‖Ā u - u‖ over 0 for u = D̄^{1/2} 1 / ‖·‖.
Bound: 1e-12, rounding in double precision. -1 must not be an eigenvalue, since every node has a
loop.
Kipf and Welling (2017).
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from chainrule.data.datasets.random_graphs import CLASSES, random_graph
from chainrule.graphs import Graph
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.nn.laplacian import normalized_adjacency

ROUNDING = 1e-12


def check(graphs: int = 40, seed: int = 0) -> Verdict:
    """Both sides divided by the square root of the degree.

    Args:
        graphs: Random graphs.
    """
    return verdict(lambda graph: normalized_adjacency(graph).dense(), graphs, seed)


def broken() -> Verdict:
    """Rows divided by the degree: averages, which can lengthen a vector."""

    def averages(graph: Graph) -> Tensor:
        joined = normalized_adjacency(graph).dense() > 0
        return joined.double() / joined.sum(1, keepdim=True)

    return verdict(averages, 40, 0)


def near() -> Near:
    """Matrices that are off by 10 %."""

    def scaled(factor: float) -> Verdict:
        return verdict(lambda graph: factor * normalized_adjacency(graph).dense(), 4, 0)

    return ten_percent("Ā", scaled)


def verdict(matrix: Callable[[Graph], Tensor], graphs: int, seed: int) -> Verdict:
    """Singular values of many graphs."""
    generator = np.random.default_rng(seed)
    worst, least, spectra = 0.0, 0.0, {}
    for number in range(graphs):
        kind = number % len(CLASSES)
        graph = random_graph(kind, generator)
        graph = Graph(graph.x.double(), graph.edge_index)
        A_bar = matrix(graph)
        u = (A_bar != 0).sum(1).double().sqrt()
        u = u / u.norm()
        longest = torch.linalg.matrix_norm(A_bar, 2).item()
        worst = max(worst, longest - 1, (A_bar @ u - u).norm().item())
        eigenvalues = torch.linalg.eigvals(A_bar).real.sort(descending=True).values
        least = min(least, eigenvalues[-1].item())
        spectra[CLASSES[kind]] = eigenvalues
    return Verdict(
        quantity="largest ‖Ā‖₂ - 1 and ‖Ā u - u‖",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"-1 is not an eigenvalue": least > -1},
        picture=Picture(
            title="No signal on a graph grows, however many layers there are",
            x_label="rank of the eigenvalue, from the largest (0) to the smallest (1)",
            y_label="eigenvalue of Ā",
            points={
                name: (torch.linspace(0, 1, len(spectrum)).tolist(), spectrum.tolist())
                for name, spectrum in spectra.items()
            },
            bounds={"1": ([0.0, 1.0], [1.0, 1.0]), "-1": ([0.0, 1.0], [-1.0, -1.0])},
        ),
        details={"smallest eigenvalue": least, "graphs": float(graphs)},
    )

"""Claim: a graph filter of order K reaches exactly the nodes within K edges (J 7.5).

    (Lᴷ)_mn = 0 if distance(m, n) > K,      (Lᴷ)_mn = (-1)ᴷ Σ_paths Π 1/√(d d') ≠ 0 if it is K

Measured: for every node of random graphs of four kinds, an impulse is filtered by α_0 + … + α_K Lᴷ,
K = 0 … `order`; the largest difference between K and the distance of the farthest node with a
nonzero output, as far as the graph extends.
Bound: exactly 0: more distant nodes enter no sum, and at distance K only shortest paths contribute,
all with the same sign.
Defferrard et al. (2016).
"""

from collections.abc import Callable

import networkx
import numpy as np
import torch
from torch import Tensor

from chainrule.data.datasets.random_graphs import CLASSES, random_graph
from chainrule.graphs import Graph, to_networkx
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.geometric.polynomial import polynomial_filter
from chainrule.nn.laplacian import fourier_basis, normalized_laplacian, spectral_filter

Response = Callable[[Graph, int], Tensor]


def check(graphs: int = 8, order: int = 6, seed: int = 0) -> Verdict:
    """Polynomials.

    Args:
        graphs: Random graphs.
        order: Largest order K.
    """
    return verdict(polynomial, graphs, order, seed)


def broken() -> Verdict:
    """A filter that is no polynomial: e^{-Kλ}, which reaches every node at once."""

    def heat(graph: Graph, K: int) -> Tensor:
        basis = fourier_basis(normalized_laplacian(graph))
        return spectral_filter(basis, (-K * basis.frequencies).exp(), graph.x)

    return verdict(heat, 8, 6, 0)


def near() -> Near:
    """Polynomials of the next orders."""
    return {
        "one term more": lambda: verdict(lambda graph, K: polynomial(graph, K + 1), 4, 3, 0),
        "one term less": lambda: verdict(
            lambda graph, K: polynomial(graph, max(K - 1, 0)), 4, 3, 0
        ),
    }


def verdict(response: Response, graphs: int, order: int, seed: int) -> Verdict:
    """How far an impulse reaches."""
    generator, worst = np.random.default_rng(seed), 0.0
    for number in range(graphs):
        edges = random_graph(number % len(CLASSES), generator).edge_index
        graph = impulses(edges)
        distance = distances(graph)
        reach = distance.where(distance.isfinite(), -1).amax(0)  # of each impulse
        for K in range(order + 1):
            heard = distance.where(response(graph, K) != 0, -1).amax(0)
            worst = max(worst, (heard - reach.clamp(max=K)).abs().max().item())
    ring = impulses(torch.stack([torch.arange(24), torch.arange(1, 25) % 24]), both=True)
    d = distances(ring)[:, 0]
    shown = {K: response(ring, K)[:, 0].abs() for K in (1, 3, 6)}
    return Verdict(
        quantity="|distance reached - K|, edges",
        measured=worst,
        relation="=",
        bound=0.0,
        picture=Picture(
            title="A filter of order K reaches K edges and no farther",
            x_label="distance from the impulse on a ring, edges",
            y_label="size of the output",
            points={
                f"K = {K}": (d[:13].tolist(), found[:13].tolist()) for K, found in shown.items()
            },
            marks={f"K = {K}": float(K) for K in shown},
            log="y",
        ),
    )


def polynomial(graph: Graph, K: int) -> Tensor:
    """Σ_{k≤K} 2^{-k} Lᵏ of every impulse."""
    alpha = 0.5 ** torch.arange(K + 1, dtype=torch.float64)
    return polynomial_filter(normalized_laplacian(graph), alpha, graph.x)


def impulses(edges: Tensor, both: bool = False) -> Graph:
    """A signal for each node, 1 there and 0 elsewhere."""
    edges = torch.cat([edges, edges.flip(0)], 1) if both else edges
    return Graph(torch.eye(int(edges.max()) + 1, dtype=torch.float64), edges)


def distances(graph: Graph) -> Tensor:
    """Edges between any two nodes; ∞ between nodes that are not connected."""
    found = networkx.floyd_warshall_numpy(to_networkx(graph))
    return torch.from_numpy(np.asarray(found))

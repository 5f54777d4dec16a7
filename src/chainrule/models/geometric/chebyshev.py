"""Chebyshev network: filters that are polynomials of the Laplacian, in a basis that stays bounded.

    T_0 = I,   T_1 = L̃,   T_k = 2 L̃ T_{k-1} - T_{k-2},        L̃ = 2 L_sym / λ_max - I
    h   = Σ_{k<K} T_k(L̃) X W_k + b

A filter of K terms sees K - 1 hops and needs no eigenvectors. J 7.5 sums over nodes and adds a bias
for each of them; the sum is over input channels, and there is one bias for each output channel.
λ_max ≤ 2 for every graph, so 2 is taken for it, and the eigenvalues of L̃ lie in [-1, 1], where
|T_k| ≤ 1. In training the entries of T_k(L̃) X and the hidden units are dropped at the given rate.

Defferrard, Bresson and Vandergheynst (2016), NeurIPS. Notes: J 7.5.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.graphs import Graph, undirected
from chainrule.nn.laplacian import scaled_laplacian
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.polynomial_filters import FilterNetwork
from chainrule.nn.sparse import Sparse


class Chebyshev(FilterNetwork):
    """Filters of Chebyshev polynomials with ReLUs between them."""

    def operator(self, graph: Graph) -> Sparse:
        return scaled_laplacian(graph)

    def polynomials(self, L: Sparse, x: Float[Tensor, "nodes width"]) -> list[Tensor]:
        return chebyshev(L, x, self.terms)


def chebyshev(L: Sparse, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
    """T_0(L) x = x,  T_1(L) x = L x,  T_k(L) x = 2 L T_{k-1}(L) x - T_{k-2}(L) x."""
    found = [x, L @ x][:terms]
    while len(found) < terms:
        found.append(2 * (L @ found[-1]) - found[-2])
    return found


def example() -> tuple[OnGraph, Tensor]:
    """Two layers on a ring of eight nodes with a chord, asked for five of them."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    graph = Graph(torch.eye(8), undirected(torch.cat([ring, torch.tensor([[0], [4]])], 1)))
    return OnGraph(Chebyshev(8, [16], 3), graph), torch.arange(5)

"""Polynomial graph filters: powers of the Laplacian instead of its eigenvectors.

    G(L) x = U (Σ_{k<K} α_k Λᵏ) Uᵀ x = Σ_{k<K} α_k Lᵏ x             one input, one output channel
    h      = Σ_{k<K} Lᵏ X W_k + b                                    many: w_k,ij is α_k of i → j

Lᵏ joins nodes at most k edges apart, so a filter of K terms sees K - 1 hops, in time that grows
with the edges. L is I - D^{-1/2} A D^{-1/2}, whose eigenvalues lie in [0, 2]. J 7.5 sums over nodes
and adds a bias for each of them; the sum is over input channels, and there is one bias for each
output channel. `chebyshev` has the same filters in a better basis.

Defferrard, Bresson and Vandergheynst (2016), NeurIPS. Notes: J 7.5.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.graphs import Graph, undirected
from chainrule.nn.laplacian import normalized_laplacian
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.polynomial_filters import FilterNetwork
from chainrule.nn.sparse import Sparse


class Polynomial(FilterNetwork):
    """Filters of powers of the Laplacian with ReLUs between them."""

    def operator(self, graph: Graph) -> Sparse:
        return normalized_laplacian(graph)

    def polynomials(self, L: Sparse, x: Float[Tensor, "nodes width"]) -> list[Tensor]:
        return powers(L, x, self.terms)


def powers(L: Sparse, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
    """x, L x, …, L^{K-1} x."""
    found = [x]
    while len(found) < terms:
        found.append(L @ found[-1])
    return found


def polynomial_filter(
    L: Sparse, coefficients: Float[Tensor, " terms"], x: Float[Tensor, "nodes width"]
) -> Float[Tensor, "nodes width"]:
    """Σ_k α_k Lᵏ x."""
    each = torch.stack(powers(L, x, len(coefficients)))
    return torch.einsum("k,knw->nw", coefficients, each)


def example() -> tuple[OnGraph, Tensor]:
    """Two layers on a ring of eight nodes with a chord, asked for five of them."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    graph = Graph(torch.eye(8), undirected(torch.cat([ring, torch.tensor([[0], [4]])], 1)))
    return OnGraph(Polynomial(8, [16], 3), graph), torch.arange(5)

"""Polynomial graph filters: powers of the Laplacian instead of its eigenvectors.

    G(L) x = U (Σ_{k<K} α_k Λᵏ) Uᵀ x = Σ_{k<K} α_k Lᵏ x             one channel
    h      = Σ_{k<K} Lᵏ X W_k + b                                    many: w_k,ij is α_k of i → j

Lᵏ joins nodes at most k edges apart, so a filter of K terms sees K - 1 hops, in time proportional
to the edges. L is I - D^{-1/2} A D^{-1/2}, with eigenvalues in [0, 2]. J 7.5 sums over nodes and
adds a bias for each of them; the sum is over input channels, and there is one bias per output
channel. `chebyshev` has the same filters in a better conditioned basis.

Defferrard, Bresson and Vandergheynst (2016), NeurIPS. Notes: J 7.5.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.graphs import Graph, path
from chainrule.nn.kernels.sparse import SparseMatrix
from chainrule.nn.laplacian import normalized_laplacian
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.polynomial_filters import FilterConv, FilterNetwork


@checked
class PolynomialConv(FilterConv):
    """One filter of powers of the Laplacian.

        h = Σ_{k<K} Lᵏ X W_k + b,   L = I - D^{-1/2} A D^{-1/2}

    Args:
        in_features: Features of a node.
        out_features: Outputs of a node.
        terms: Number K of powers; the filter sees K - 1 hops.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> PolynomialConv(3, 5, terms=2)(torch.eye(3), edge_index).shape
    torch.Size([3, 5])
    """

    @staticmethod
    def operator(graph: Graph) -> SparseMatrix:
        return normalized_laplacian(graph)

    @staticmethod
    def polynomials(L: SparseMatrix, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
        return powers(L, x, terms)


@checked
class PolynomialGNN(FilterNetwork):
    """Filters of powers of the Laplacian with ReLUs between them.

        h = Σ_{k<K} Lᵏ X W_k + b   for each layer

    The Lᵏ X of the first layer contain no weights: `OnGraph` computes them once for a graph. So
    dropout acts on their entries rather than on those of X.

    Args:
        in_features: Features of a node.
        hidden: Widths of the hidden layers.
        out_features: Outputs of a node.
        terms: Number K of powers in each filter; a layer sees K - 1 hops.
        dropout: Dropout probability of the Lᵏ X and of the hidden units.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> PolynomialGNN(3, [16], 2)(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    conv = PolynomialConv


def powers(L: SparseMatrix, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
    """x, L x, …, L^{K-1} x."""
    found = [x]
    while len(found) < terms:
        found.append(L @ found[-1])
    return found


def polynomial_filter(
    L: SparseMatrix, coefficients: Float[Tensor, " terms"], x: Float[Tensor, "nodes width"]
) -> Float[Tensor, "nodes width"]:
    """Σ_k α_k Lᵏ x."""
    each = torch.stack(powers(L, x, len(coefficients)))
    return torch.einsum("k,knw->nw", coefficients, each)


def example() -> tuple[OnGraph, Tensor]:
    """A network on a path of eight nodes, and five of them."""
    return OnGraph(PolynomialGNN(8, [16], 3), Graph(torch.eye(8), path(8))), torch.arange(5)

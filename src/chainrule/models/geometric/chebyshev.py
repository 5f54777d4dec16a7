"""Chebyshev network: graph filters in a basis of polynomials that stays bounded.

    T_0 = I,   T_1 = L̃,   T_k = 2 L̃ T_{k-1} - T_{k-2},        L̃ = 2 L_sym / λ_max - I
    h   = Σ_{k<K} T_k(L̃) X W_k + b

A filter of K terms sees K - 1 hops and needs no eigenvectors. λ_max is taken as 2, its bound for
every graph: the eigenvalues of L̃ lie in [-1, 1], where |T_k| ≤ 1. J 7.5 sums over nodes and adds a
bias for each of them; the sum is over input channels, and there is one bias per output channel.

Defferrard, Bresson and Vandergheynst (2016), NeurIPS. Notes: J 7.5.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.arguments import checked
from chainrule.graphs import Graph, path
from chainrule.nn.kernels.sparse import SparseMatrix
from chainrule.nn.laplacian import scaled_laplacian
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.polynomial_filters import FilterConv, FilterNetwork


@checked
class ChebConv(FilterConv):
    """One Chebyshev filter.

        h = Σ_{k<K} T_k(L̃) X W_k + b,   T_k = 2 L̃ T_{k-1} - T_{k-2},   L̃ = L_sym - I

    Args:
        in_features: Features of a node.
        out_features: Outputs of a node.
        terms: Number K of polynomials; the filter sees K - 1 hops.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> ChebConv(3, 5, terms=2)(torch.eye(3), edge_index).shape
    torch.Size([3, 5])
    """

    @staticmethod
    def operator(graph: Graph) -> SparseMatrix:
        return scaled_laplacian(graph)

    @staticmethod
    def polynomials(L: SparseMatrix, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
        return chebyshev(L, x, terms)


@checked
class ChebNet(FilterNetwork):
    """Chebyshev filters with ReLUs between them.

        h = Σ_{k<K} T_k(L̃) X W_k + b   for each layer

    The T_k(L̃) X of the first layer contain no weights: `OnGraph` computes them once for a graph. So
    dropout acts on their entries rather than on those of X.

    Args:
        in_features: Features of a node.
        hidden: Widths of the hidden layers.
        out_features: Outputs of a node.
        terms: Number K of polynomials in each filter; a layer sees K - 1 hops.
        dropout: Dropout probability of the T_k(L̃) X and of the hidden units.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> ChebNet(3, [16], 2)(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    conv = ChebConv


def chebyshev(L: SparseMatrix, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
    """T_0(L) x = x,  T_1(L) x = L x,  T_k(L) x = 2 L T_{k-1}(L) x - T_{k-2}(L) x."""
    found = [x, L @ x][:terms]
    while len(found) < terms:
        found.append(2 * (L @ found[-1]) - found[-2])
    return found


def example() -> tuple[OnGraph, Tensor]:
    """A network on a path of eight nodes, and five of them."""
    return OnGraph(ChebNet(8, [16], 3), Graph(torch.eye(8), path(8))), torch.arange(5)

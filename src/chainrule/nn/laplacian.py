"""Matrices of a graph: adjacency, Laplacians, and the Fourier basis that they define.

    A        a_mn: weight of the edge from node n to node m; d_m = Σ_n a_mn, D = diag d
    Ā        D̄^{-1/2} (A + I) D̄^{-1/2},  d̄ = d + 1                                  ‖Ā‖₂ ≤ 1
    L        D - A = U Λ Uᵀ
    L_sym    I - D^{-1/2} A D^{-1/2}, eigenvalues in [0, 2]
    L̃        2 L_sym / λ_max - I, eigenvalues in [-1, 1]
    x̂ = Uᵀ x,   x = U x̂,   G(L) x = U G(Λ) Uᵀ x,   x ∗ y = U (Uᵀ x ⊙ Uᵀ y)

The bounds hold for symmetric A with weights a_mn ≥ 0. Where d = 0, d^{-1/2} is taken as 0: the row
of L_sym of an isolated node is that of I. Self-loops of the graph do not enter the Laplacians; in Ā
the weight of a self-loop takes the place of the 1 from I.
Kipf and Welling (2017); Shuman et al. (2013). Notes: J 7.4, 7.5.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from chainrule.arguments import checked
from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.nn.kernels.sparse import SparseMatrix, summed

SYMMETRIC_TO = 1e-6


class FourierBasis(NamedTuple):
    """L = U Λ Uᵀ: a column of U for each frequency λ, in ascending order."""

    U: Float[Tensor, "nodes nodes"]
    frequencies: Float[Tensor, " nodes"]


@checked
def weights(graph: Graph) -> Float[Tensor, " edges"]:
    """a_mn of each edge."""
    if graph.edge_weight is None:
        return graph.x.new_ones(graph.num_edges)
    return graph.edge_weight.to(graph.x.dtype)


@checked
def adjacency(graph: Graph) -> SparseMatrix:
    """A; parallel edges stay separate entries, which add up."""
    return square(graph, graph.edge_index.flip(0), weights(graph))


@checked
def off_diagonal(
    graph: Graph,
) -> tuple[Int[Tensor, "2 entries"], Float[Tensor, " entries"]]:
    """A without self-loops: row and column of each entry, and its value."""
    between = graph.edge_index[0] != graph.edge_index[1]
    return graph.edge_index[:, between].flip(0), weights(graph)[between]


@checked
def with_diagonal(graph: Graph, index: Int[Tensor, "2 entries"]) -> Int[Tensor, "2 all"]:
    """Positions of these entries, followed by those of the diagonal."""
    own = torch.arange(graph.num_nodes, device=index.device)
    return torch.cat([index, own.expand(2, -1)], 1)


@checked
def square(graph: Graph, index: Tensor, values: Tensor) -> SparseMatrix:
    """The matrix (nodes, nodes) with these entries."""
    return SparseMatrix(index, values, (graph.num_nodes, graph.num_nodes))


@checked
def normalized_adjacency(graph: Graph) -> SparseMatrix:
    """Ā = D̄^{-1/2} (A + I) D̄^{-1/2}."""
    between, a = off_diagonal(graph)
    index, a = with_diagonal(graph, between), torch.cat([a, self_weights(graph)])
    root = inverse_sqrt(summed(a, index[0], graph.num_nodes))
    return square(graph, index, a * (root[index[0]] * root[index[1]]))


@checked
def self_weights(graph: Graph) -> Float[Tensor, " nodes"]:
    """Weight of each node's self-loop, or 1 for a node without one."""
    source, target = graph.edge_index
    loops = source == target
    ones = graph.x.new_ones(graph.num_nodes)
    return ones.index_put((target[loops],), weights(graph)[loops])


@checked
def laplacian(graph: Graph) -> SparseMatrix:
    """L = D - A."""
    index, a = off_diagonal(graph)
    d = summed(a, index[0], graph.num_nodes)
    return square(graph, with_diagonal(graph, index), torch.cat([-a, d]))


@checked
def normalized_laplacian(graph: Graph) -> SparseMatrix:
    """L_sym = I - D^{-1/2} A D^{-1/2}."""
    index, a = off_diagonal(graph)
    root = inverse_sqrt(summed(a, index[0], graph.num_nodes))
    values = torch.cat([-a * (root[index[0]] * root[index[1]]), torch.ones_like(root)])
    return square(graph, with_diagonal(graph, index), values)


@checked
def scaled_laplacian(graph: Graph, largest: float = 2.0) -> SparseMatrix:
    """L̃ = 2 L_sym / λ_max - I; 2 bounds λ_max for every graph."""
    L = normalized_laplacian(graph)
    on_diagonal = (L.row == L.column).to(L.values.dtype)
    index = torch.stack([L.row, L.column])
    return SparseMatrix(index, 2 / largest * L.values - on_diagonal, L.shape)


@checked
def inverse_sqrt(d: Float[Tensor, " nodes"]) -> Float[Tensor, " nodes"]:
    """d^{-1/2}, and 0 where d ≤ 0."""
    return torch.where(d > 0, d, 1).rsqrt() * (d > 0)


@checked
def fourier_basis(L: SparseMatrix) -> FourierBasis:
    """L = U Λ Uᵀ, in time O(nodes³)."""
    found = L.dense()
    if not torch.allclose(found, found.T, atol=SYMMETRIC_TO):
        raise InputError(
            "a graph Fourier transform needs an undirected graph: expected every edge in both "
            "directions, with the same weight"
        )
    frequencies, U = torch.linalg.eigh(found)
    return FourierBasis(U, frequencies)


@checked
def spectral_filter(
    basis: FourierBasis, gains: Float[Tensor, " nodes"], x: Float[Tensor, "nodes width"]
) -> Float[Tensor, "nodes width"]:
    """U G(Λ) Uᵀ x: every frequency of x times its gain."""
    return basis.U @ (gains[:, None] * (basis.U.T @ x))


@checked
def convolution(
    basis: FourierBasis, x: Float[Tensor, "nodes width"], y: Float[Tensor, "nodes width"]
) -> Float[Tensor, "nodes width"]:
    """x ∗ y = U (Uᵀ x ⊙ Uᵀ y), which depends on the signs of U's columns; a filter does not."""
    return basis.U @ ((basis.U.T @ x) * (basis.U.T @ y))

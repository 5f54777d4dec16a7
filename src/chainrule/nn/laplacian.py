"""Matrices of a graph: adjacency, coupling, Laplacians, and the Fourier transform that they give.

    A        a_mn = 1 where node n sends to node m; d_m = Σ_n a_mn, D = diag d
    Ā        D̄^{-1/2} (A + I) D̄^{-1/2},  d̄ = d + 1                                  ‖Ā‖₂ ≤ 1
    L        D - A = U Λ Uᵀ
    L_sym    I - D^{-1/2} A D^{-1/2}, whose eigenvalues lie in [0, 2]
    L̃        2 L_sym / λ_max - I, in [-1, 1], where Chebyshev's polynomials live
    x̂ = Uᵀ x,   x = U x̂,   G(L) x = U G(Λ) Uᵀ x

A node without neighbors has d = 0 and then 0 for d^{-1/2}; its row of L_sym is that of I, as if it
had been normalized. Kipf and Welling (2017); Shuman et al. (2013). Notes: J 7.4, 7.5.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.nn.sparse import Sparse

SYMMETRIC_TO = 1e-6


class Basis(NamedTuple):
    """The graph Fourier basis: a column of U for each frequency λ, in ascending order."""

    U: Float[Tensor, "nodes nodes"]
    frequencies: Float[Tensor, " nodes"]


def adjacency(graph: Graph) -> Sparse:
    """A; parallel edges stay entries of their own and add up."""
    source, target = graph.edge_index
    ones = graph.x.new_ones(graph.edges)
    return Sparse(torch.stack([target, source]), ones, (graph.nodes, graph.nodes))


def with_loops(graph: Graph) -> Tensor:
    """(2, edges + nodes): the edges as (target, source), loops left out, and one loop per node."""
    source, target = graph.edge_index[:, graph.edge_index[0] != graph.edge_index[1]]
    own = torch.arange(graph.nodes, device=source.device)
    return torch.stack([torch.cat([target, own]), torch.cat([source, own])])


def coupling(graph: Graph) -> Sparse:
    """Ā = D̄^{-1/2} (A + I) D̄^{-1/2}."""
    index = with_loops(graph)
    d = index[0].bincount(minlength=graph.nodes).to(graph.x.dtype)
    values = d[index[0]].rsqrt() * d[index[1]].rsqrt()
    return Sparse(index, values, (graph.nodes, graph.nodes))


def laplacian(graph: Graph) -> Sparse:
    """L = D - A."""
    index = with_loops(graph)
    d = without_loops(graph, index).to(graph.x.dtype)
    ones = graph.x.new_ones(index.shape[1] - graph.nodes)
    return Sparse(index, torch.cat([-ones, d]), (graph.nodes, graph.nodes))


def normalized_laplacian(graph: Graph) -> Sparse:
    """L_sym = I - D^{-1/2} A D^{-1/2}."""
    index = with_loops(graph)
    d = without_loops(graph, index).to(graph.x.dtype)
    root = torch.where(d > 0, d.rsqrt(), 0)
    between = index[:, : -graph.nodes]
    values = torch.cat([-root[between[0]] * root[between[1]], torch.ones_like(d)])
    return Sparse(index, values, (graph.nodes, graph.nodes))


def scaled_laplacian(graph: Graph, largest: float = 2.0) -> Sparse:
    """L̃ = 2 L_sym / λ_max - I; 2 bounds λ_max for every graph."""
    L = normalized_laplacian(graph)
    on_diagonal = (L.row == L.column).to(L.values.dtype)
    index = torch.stack([L.row, L.column])
    return Sparse(index, 2 / largest * L.values - on_diagonal, L.shape)


def without_loops(graph: Graph, index: Tensor) -> Tensor:
    """d_m of `with_loops`, the added loops not counted."""
    return index[0].bincount(minlength=graph.nodes) - 1


def fourier_basis(L: Sparse) -> Basis:
    """L = U Λ Uᵀ, in time that grows with the cube of the nodes."""
    found = L.dense()
    if not torch.allclose(found, found.T, atol=SYMMETRIC_TO):
        raise InputError(
            "a graph Fourier transform needs an undirected graph: expected every edge in both "
            "directions"
        )
    frequencies, U = torch.linalg.eigh(found)
    return Basis(U, frequencies)


def spectral_filter(
    basis: Basis, gains: Float[Tensor, " nodes"], x: Float[Tensor, "nodes width"]
) -> Float[Tensor, "nodes width"]:
    """U G(Λ) Uᵀ x: every frequency of x times its gain."""
    return basis.U @ (gains[:, None] * (basis.U.T @ x))

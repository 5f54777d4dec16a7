"""Spectral graph network: convolution is multiplication in the graph's own Fourier basis.

    L = U Λ Uᵀ,    x̂ = Uᵀ x,    x ∗ y = U (Uᵀ x ⊙ Uᵀ y)
    h_j = Σ_i U G_ij(Λ) Uᵀ x_i + b_j,      G_ij(λ) = Σ_k θ_kij β_k(λ)

The gain G is a free function of the frequency λ ∈ [0, 2], given by its values θ at K knots and
straight between them (β_k is the tent at knot k). Few knots make a smooth gain, and so a filter
that stays near its node; K does not depend on the graph, so the network may be put on another one.
The price is the eigenvectors: time of the cube of the nodes, once. L is I - D^{-1/2} A D^{-1/2}.

Bruna, Zaremba, Szlam and LeCun (2014), ICLR; Henaff, Bruna and LeCun (2015). Notes: J 7.5.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import init

from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected
from chainrule.nn.dropout import dropout
from chainrule.nn.laplacian import fourier_basis, normalized_laplacian
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.sparse import Dense


class SpectralLayer(nn.Module):
    """Gains θ at the knots for every pair of channels, and a bias."""

    def __init__(self, inputs: int, outputs: int, knots: int):
        super().__init__()
        theta = init.xavier_uniform_(torch.empty(inputs, outputs)).repeat(knots, 1, 1)
        self.theta = nn.Parameter(theta + 0.1 * theta.std() * torch.randn_like(theta))
        self.b = nn.Parameter(torch.zeros(outputs))

    def forward(
        self, x: Float[Tensor, "nodes inputs"], U: Tensor, tents: Tensor
    ) -> Float[Tensor, "nodes outputs"]:
        """U Σ_i G_ij(Λ) Uᵀ x_i + b."""
        return U @ gained(U.T @ x, tents, self.theta) + self.b


class Spectral(nn.Module):
    """Spectral layers with ReLUs between them; `OnGraph` puts it on a graph."""

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        knots: int = 5,
        dropout: float = 0.5,
    ):
        super().__init__()
        sizes = [inputs, *hidden, outputs]
        if min(sizes) < 1 or knots < 2 or not 0 <= dropout < 1:
            raise InputError(
                "expected layers of at least one unit, at least two knots and a dropout from 0 to "
                f"below 1, got {'-'.join(map(str, sizes))}, {knots} and {dropout}"
            )
        self.rate, self.knots = dropout, knots
        self.layers = nn.ModuleList(SpectralLayer(m, n, knots) for m, n in pairwise(sizes))

    def views(self, graph: Graph) -> nn.ModuleDict:
        """X, U, and the tents at every frequency."""
        basis = fourier_basis(normalized_laplacian(graph))
        tents_at = tents(basis.frequencies, self.knots)
        return nn.ModuleDict({"x": Dense(graph.x), "U": Dense(basis.U), "tents": Dense(tents_at)})

    def forward(self, x: Dense, U: Dense, tents: Dense) -> Float[Tensor, "nodes outputs"]:
        first, *rest = self.layers
        h = first(dropout(x.values, self.rate, self.training), U.values, tents.values)
        for layer in rest:
            h = layer(dropout(h.relu(), self.rate, self.training), U.values, tents.values)
        return h


def tents(frequencies: Float[Tensor, " nodes"], knots: int) -> Float[Tensor, "nodes knots"]:
    """β_k(λ) = max(0, 1 - |λ - λ_k| / Δ) for knots λ_k evenly from 0 to 2."""
    step = 2 / (knots - 1)
    at = step * torch.arange(knots, dtype=frequencies.dtype)
    return (1 - (frequencies.clamp(0, 2)[:, None] - at).abs() / step).clamp_min(0)


def gained(
    spectrum: Float[Tensor, "nodes inputs"],
    tents: Float[Tensor, "nodes knots"],
    theta: Float[Tensor, "knots inputs outputs"],
) -> Float[Tensor, "nodes outputs"]:
    """Σ_i G_ij(λ) x̂_i = Σ_k β_k(λ) Σ_i θ_kij x̂_i for each frequency."""
    knots = (tents[:, :, None] * spectrum[:, None, :]).flatten(1)
    return knots @ theta.flatten(0, 1)


def example() -> tuple[OnGraph, Tensor]:
    """Two layers on a ring of eight nodes with a chord, asked for five of them."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    graph = Graph(torch.eye(8), undirected(torch.cat([ring, torch.tensor([[0], [4]])], 1)))
    return OnGraph(Spectral(8, [16], 3), graph), torch.arange(5)

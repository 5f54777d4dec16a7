"""Spectral graph network: convolution is multiplication in the graph's Fourier basis.

    L = U Λ Uᵀ,    x̂ = Uᵀ x,    x ∗ y = U (Uᵀ x ⊙ Uᵀ y)
    h_j = Σ_i U G_ij(Λ) Uᵀ x_i + b_j,      G_ij(λ) = Σ_k θ_kij β_k(λ)

The gain G is a free function of the frequency λ ∈ [0, 2]: it is given by its values θ at K knots
and linear between them (β_k is the tent function at knot k). Few knots make a smooth gain, and thus
a filter that is local around its node; K does not depend on the graph, so the weights fit any
graph. The price are the eigenvectors, computed once in time O(nodes³). L is
I - D^{-1/2} A D^{-1/2}.

Bruna, Zaremba, Szlam and LeCun (2014), ICLR; Henaff, Bruna and LeCun (2015). Notes: J 7.5.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import init

from chainrule.arguments import Count, Rate, TwoOrMore, checked
from chainrule.graphs import Graph, path
from chainrule.nn.dropout import dropout
from chainrule.nn.kernels.sparse import DenseMatrix
from chainrule.nn.laplacian import fourier_basis, normalized_laplacian
from chainrule.nn.on_graph import OnGraph


@checked
class SpectralConv(nn.Module):
    """One spectral convolution, with gains θ at the knots for every pair of channels.

        h_j = Σ_i U G_ij(Λ) Uᵀ x_i + b_j,   G_ij(λ) = Σ_k θ_kij β_k(λ)

    Args:
        in_features: Features of a node.
        out_features: Outputs of a node.
        knots: Number K of knots of the gain.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> SpectralConv(3, 5)(torch.eye(3), edge_index).shape
    torch.Size([3, 5])
    """

    def __init__(self, in_features: Count, out_features: Count, knots: TwoOrMore = 5):
        super().__init__()
        theta = init.xavier_uniform_(torch.empty(in_features, out_features)).repeat(knots, 1, 1)
        self.theta = nn.Parameter(theta + 0.1 * theta.std() * torch.randn_like(theta))
        self.bias = nn.Parameter(torch.zeros(out_features))

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_weight: Float[Tensor, " edges"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_weight=edge_weight)
        U, frequencies = fourier_basis(normalized_laplacian(graph))
        return self.propagate(x, U, tents(frequencies, len(self.theta)))

    def propagate(
        self,
        x: Float[Tensor, "nodes in_features"],
        U: Float[Tensor, "nodes nodes"],
        tents: Float[Tensor, "nodes knots"],
    ) -> Float[Tensor, "nodes out_features"]:
        """U Σ_i G_ij(Λ) Uᵀ x_i + b for a given Fourier basis."""
        return U @ filtered(U.T @ x, tents, self.theta) + self.bias


@checked
class SpectralGNN(nn.Module):
    """Spectral convolutions with ReLUs between them.

        h_j = Σ_i U G_ij(Λ) Uᵀ x_i + b_j   for each layer

    `OnGraph` computes the Fourier basis U once for a graph.

    Args:
        in_features: Features of a node.
        hidden: Widths of the hidden layers.
        out_features: Outputs of a node.
        knots: Number K of knots of each gain.
        dropout: Dropout probability of the inputs of each layer.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> SpectralGNN(3, [16], 2)(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_features: Count,
        hidden: Sequence[Count],
        out_features: Count,
        knots: TwoOrMore = 5,
        dropout: Rate = 0.5,
    ):
        super().__init__()
        sizes = [in_features, *hidden, out_features]
        self.dropout, self.knots = dropout, knots
        self.layers = nn.ModuleList(SpectralConv(m, n, knots) for m, n in pairwise(sizes))

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_weight: Float[Tensor, " edges"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_weight=edge_weight)
        return self.layer_outputs(**self.precompute(graph))[-1]

    def precompute(self, graph: Graph) -> nn.ModuleDict:
        """X, U, and β_k at every frequency."""
        U, frequencies = fourier_basis(normalized_laplacian(graph))
        constants = {"x": graph.x, "U": U, "tents": tents(frequencies, self.knots)}
        return nn.ModuleDict({name: DenseMatrix(value) for name, value in constants.items()})

    def layer_outputs(self, x: DenseMatrix, U: DenseMatrix, tents: DenseMatrix) -> list[Tensor]:
        """Outputs of every layer; hidden ones after their ReLU."""
        layers: Any = self.layers
        h = dropout(x.values, self.dropout, self.training)
        outputs = [layers[0].propagate(h, U.values, tents.values)]
        for layer in layers[1:]:
            outputs[-1] = outputs[-1].relu()
            h = dropout(outputs[-1], self.dropout, self.training)
            outputs.append(layer.propagate(h, U.values, tents.values))
        return outputs


def tents(frequencies: Float[Tensor, " nodes"], knots: int) -> Float[Tensor, "nodes knots"]:
    """β_k(λ) = max(0, 1 - |λ - λ_k| / Δ) for knots λ_k spaced evenly from 0 to 2."""
    step = 2 / (knots - 1)
    at = step * torch.arange(knots, dtype=frequencies.dtype, device=frequencies.device)
    return (1 - (frequencies.clamp(0, 2)[:, None] - at).abs() / step).clamp_min(0)


def filtered(
    spectrum: Float[Tensor, "nodes inputs"],
    tents: Float[Tensor, "nodes knots"],
    theta: Float[Tensor, "knots inputs outputs"],
) -> Float[Tensor, "nodes outputs"]:
    """Σ_i G_ij(λ) x̂_i = Σ_k β_k(λ) Σ_i θ_kij x̂_i for each frequency."""
    knots = (tents[:, :, None] * spectrum[:, None, :]).flatten(1)
    return knots @ theta.flatten(0, 1)


def example() -> tuple[OnGraph, Tensor]:
    """A network on a path of eight nodes, and five of them."""
    return OnGraph(SpectralGNN(8, [16], 3), Graph(torch.eye(8), path(8))), torch.arange(5)

"""Graph filters that are polynomials of a Laplacian, in any basis.

    h = Σ_{k<K} P_k(L) X W_k + b,        P_k of degree k: the filter sees K - 1 hops

In a network the P_k(L) X of the first layer contain no weights: they are computed once, and kept
sparse where X is. Notes: J 7.5.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import init

from chainrule.arguments import Count, Rate, checked
from chainrule.graphs import Graph
from chainrule.nn.dropout import dropout
from chainrule.nn.kernels.sparse import SparseMatrix, as_matrix


@checked
class FilterConv(nn.Module):
    """One polynomial graph filter: h = Σ_{k<K} P_k(L) X W_k + b. A subclass says L and P_k.

    Args:
        in_features: Features of a node.
        out_features: Outputs of a node.
        terms: Number K of polynomials; the filter sees K - 1 hops.
    """

    def __init__(self, in_features: Count, out_features: Count, terms: Count = 3):
        super().__init__()
        W = torch.empty(terms, in_features, out_features)
        for each in W:
            init.xavier_uniform_(each)
        self.weight, self.bias = nn.Parameter(W), nn.Parameter(torch.zeros(out_features))

    @staticmethod
    @abstractmethod
    def operator(graph: Graph) -> SparseMatrix:
        """L, the matrix that the polynomials are of."""

    @staticmethod
    @abstractmethod
    def polynomials(L: SparseMatrix, x: Float[Tensor, "nodes width"], terms: int) -> list[Tensor]:
        """P_0(L) x, …, P_{K-1}(L) x."""

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_weight: Float[Tensor, " edges"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        return self.propagate(x, self.operator(Graph(x, edge_index, edge_weight=edge_weight)))

    def propagate(
        self, x: Float[Tensor, "nodes in_features"], L: SparseMatrix
    ) -> Float[Tensor, "nodes out_features"]:
        """Σ_k P_k(L) X W_k + b, as one product."""
        terms = self.polynomials(L, x, len(self.weight))
        return torch.cat(terms, 1) @ self.weight.flatten(0, 1) + self.bias


@checked
class FilterNetwork(nn.Module):
    """Polynomial graph filters with ReLUs between them. A subclass says which filter.

    Args:
        in_features: Features of a node.
        hidden: Widths of the hidden layers.
        out_features: Outputs of a node.
        terms: Number K of polynomials in each filter.
        dropout: Dropout probability of the P_k(L) X and of the hidden units.
    """

    conv: ClassVar[type[FilterConv]]

    def __init__(
        self,
        in_features: Count,
        hidden: Sequence[Count],
        out_features: Count,
        terms: Count = 3,
        dropout: Rate = 0.5,
    ):
        super().__init__()
        sizes = [in_features, *hidden, out_features]
        self.dropout, self.terms = dropout, terms
        self.layers = nn.ModuleList(self.conv(m, n, terms) for m, n in pairwise(sizes))

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_weight: Float[Tensor, " edges"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_weight=edge_weight)
        return self.layer_outputs(**self.precompute(graph))[-1]

    def precompute(self, graph: Graph) -> nn.ModuleDict:
        """P_k(L) X for all k, and L."""
        L = self.conv.operator(graph)
        terms = self.conv.polynomials(L, graph.x, self.terms)
        return nn.ModuleDict({"PX": nn.ModuleList(map(as_matrix, terms)), "L": L})

    def layer_outputs(self, PX: nn.ModuleList, L: SparseMatrix) -> list[Tensor]:
        """Outputs of every layer; hidden ones after their ReLU."""
        layers: Any = self.layers
        first, *rest = layers
        terms = (
            P_k.matmul(W_k, dropout(P_k.values, self.dropout, self.training))  # type: ignore[arg-type, operator]
            for P_k, W_k in zip(PX, first.weight, strict=True)
        )
        outputs = [sum(terms, first.bias)]
        for layer in rest:
            outputs[-1] = outputs[-1].relu()
            h = dropout(outputs[-1], self.dropout, self.training)
            outputs.append(layer.propagate(h, L))
        return outputs

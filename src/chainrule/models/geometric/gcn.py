"""Graph convolutional network: each layer averages over neighbors, then mixes the features.

    Ā = D^{-1/2} (A + I) D^{-1/2},  d_m = 1 + Σ_n a_mn                    ‖Ā‖₂ ≤ 1
    H_0 = X,   H_l = φ(Ā H_{l-1} W_l + b_l),   f = Ā H_{L-1} W_L + b_L    a row for each node
    two layers:  Y = softmax(Ā (Ā X W_0)₊ W_1)

Permuting the nodes permutes the outputs: f(PX, PAPᵀ) = P f(X, A); J 7.4 prints
f(X, A) = P f(PX, PAPᵀ).

Kipf and Welling (2017), ICLR. Notes: J 7.4.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Rate, checked
from chainrule.graphs import Graph, path
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.kernels.sparse import Matrix, SparseMatrix, as_matrix
from chainrule.nn.laplacian import normalized_adjacency
from chainrule.nn.on_graph import OnGraph


@checked
class GCNConv(nn.Module):
    """One graph convolution.

        h = Ā X Wᵀ + b,   Ā = D^{-1/2} (A + I) D^{-1/2}

    Args:
        in_features: Features of a node.
        out_features: Outputs of a node.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> GCNConv(3, 5)(torch.eye(3), edge_index).shape
    torch.Size([3, 5])
    """

    def __init__(self, in_features: Count, out_features: Count):
        super().__init__()
        linear = initialize(nn.Linear(in_features, out_features), "xavier-uniform")
        self.weight, self.bias = linear.weight, linear.bias

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_weight: Float[Tensor, " edges"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_weight=edge_weight)
        return self.propagate(x, normalized_adjacency(graph))

    def propagate(
        self, x: Float[Tensor, "nodes in_features"], A: SparseMatrix
    ) -> Float[Tensor, "nodes out_features"]:
        """Ā (X Wᵀ) + b for a given Ā."""
        return A @ (x @ self.weight.T) + self.bias


@checked
class GCN(nn.Module):
    """Graph convolutional network, with ReLUs φ between the layers.

        H_0 = X,   H_l = φ(Ā H_{l-1} W_l + b_l),   f = Ā H_{L-1} W_L + b_L

    Ā X contains no weights: `OnGraph` computes it once for a graph. So dropout acts on the entries
    of Ā X rather than of X.

    Args:
        in_features: Features of a node.
        hidden: Widths of the hidden layers.
        out_features: Outputs of a node.
        dropout: Dropout probability of the entries of Ā X and of the hidden units.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])  # the path 0 - 1 - 2
    >>> GCN(3, [16], 2)(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self, in_features: Count, hidden: Sequence[Count], out_features: Count, dropout: Rate = 0.5
    ):
        super().__init__()
        sizes = [in_features, *hidden, out_features]
        self.dropout = dropout
        self.layers = nn.ModuleList(GCNConv(m, n) for m, n in pairwise(sizes))

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_weight: Float[Tensor, " edges"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_weight=edge_weight)
        return self.layer_outputs(**self.precompute(graph))[-1]

    def precompute(self, graph: Graph) -> nn.ModuleDict:
        """Ā X and Ā."""
        A = normalized_adjacency(graph)
        return nn.ModuleDict({"AX": as_matrix(A @ graph.x), "A": A})

    def layer_outputs(self, AX: Matrix, A: SparseMatrix) -> list[Tensor]:
        """H_1, …, H_{L-1} and f."""
        layers: Any = self.layers
        first, *rest = layers
        dropped = dropout(AX.values, self.dropout, self.training)
        outputs = [AX.matmul(first.weight.T, dropped) + first.bias]
        for layer in rest:
            outputs[-1] = outputs[-1].relu()
            h = dropout(outputs[-1], self.dropout, self.training)
            outputs.append(layer.propagate(h, A))
        return outputs


def example() -> tuple[OnGraph, Tensor]:
    """A network on a path of eight nodes, and five of them."""
    return OnGraph(GCN(8, [16], 3), Graph(torch.eye(8), path(8))), torch.arange(5)

"""Graph convolutional network: every layer averages over neighbors, then mixes the features.

    Ā = D^{-1/2} (A + I) D^{-1/2},  d_m = 1 + Σ_n a_mn                    coupling matrix, ‖Ā‖₂ ≤ 1
    H_0 = X,   H_l = φ(Ā H_{l-1} W_l + b_l),   f = Ā H_{L-1} W_L + b_L    a row for each node
    two layers:  Y = softmax(Ā (Ā X W_0)₊ W_1)

Ā X holds neither weights nor randomness, so it is computed once, and kept sparse where X is. In
training the entries of Ā X and the hidden units are dropped at the given rate. Permuting the nodes
permutes the outputs: f(PX, PAPᵀ) = P f(X, A), where J 7.4 prints f(X, A) = P f(PX, PAPᵀ).

Kipf and Welling (2017), ICLR. Notes: J 7.4.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.laplacian import coupling
from chainrule.nn.on_graph import OnGraph
from chainrule.nn.sparse import Matrix, Sparse, matrix


class GCN(nn.Module):
    """Graph convolutions with ReLUs between them; `OnGraph` puts it on a graph."""

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: int, dropout: float = 0.5):
        super().__init__()
        sizes = [inputs, *hidden, outputs]
        if min(sizes) < 1 or not 0 <= dropout < 1:
            raise InputError(
                f"expected layers of at least one unit and a dropout from 0 to below 1, got "
                f"{'-'.join(map(str, sizes))} and {dropout}"
            )
        self.rate = dropout
        self.layers = nn.ModuleList(
            initialize(nn.Linear(m, n), "xavier-uniform") for m, n in pairwise(sizes)
        )

    def views(self, graph: Graph) -> nn.ModuleDict:
        """Ā X and Ā."""
        A = coupling(graph)
        return nn.ModuleDict({"coupled": matrix(A @ graph.x), "coupling": A})

    def forward(self, coupled: Matrix, coupling: Sparse) -> Float[Tensor, "nodes outputs"]:
        """f from Ā X and Ā."""
        return self.outputs(coupled, coupling)[-1]

    def hidden(self, coupled: Matrix, coupling: Sparse) -> Float[Tensor, "nodes width"]:
        """What the last layer sees: an embedding of the nodes."""
        return [coupled.dense(), *self.outputs(coupled, coupling)][-2]

    def outputs(self, coupled: Matrix, coupling: Sparse) -> list[Tensor]:
        """Of every layer, after its ReLU; the last one has none."""
        W, b = parts(self.layers[0])
        found = [coupled.times(W.T, dropout(coupled.values, self.rate, self.training)) + b]
        for layer in self.layers[1:]:
            found[-1] = found[-1].relu()
            h = dropout(found[-1], self.rate, self.training)
            found.append(convolution(coupling, h, *parts(layer)))
        return found


def convolution(
    coupling: Sparse,
    h: Float[Tensor, "nodes inputs"],
    W: Float[Tensor, "outputs inputs"],
    b: Float[Tensor, " outputs"],
) -> Float[Tensor, "nodes outputs"]:
    """Ā (H Wᵀ) + b."""
    return coupling @ (h @ W.T) + b


def parts(layer: nn.Module) -> tuple[Tensor, Tensor]:
    """W and b."""
    assert isinstance(layer, nn.Linear)
    return layer.weight, layer.bias


def example() -> tuple[OnGraph, Tensor]:
    """A network on a ring of eight nodes with a chord, asked for five of them."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    graph = Graph(torch.eye(8), undirected(torch.cat([ring, torch.tensor([[0], [4]])], 1)))
    return OnGraph(GCN(8, [16], 3), graph), torch.arange(5)

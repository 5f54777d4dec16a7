"""Scores of pairs of nodes on a fixed graph: whether there is an edge between them.

    z = F(X, A),   f(m, n) = [-s/2, s/2],   s = z_mᵀ z_n + b        softmax(f)_2 = σ(s)

Kipf and Welling (2016), variational graph auto-encoders. Notes: J 7.4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.graphs import Graph
from chainrule.nn.on_graph import OnGraph


@checked
class OnPairs(OnGraph):
    """A node network on a fixed graph as a classifier of pairs: no edge, or an edge.

        f(m, n) = [-s/2, s/2],   s = z_mᵀ z_n + b

    Args:
        network: A network with one vector z for each node, such as `GCN`.
        graph: The graph that it sees.

    >>> from chainrule.graphs import path
    >>> from chainrule.models.geometric import GCN
    >>> model = OnPairs(GCN(8, [16], 4), Graph(torch.eye(8), path(8)))
    >>> model(torch.tensor([[0, 1], [2, 7]])).shape
    torch.Size([2, 2])
    """

    def __init__(self, network: nn.Module, graph: Graph):
        super().__init__(network, graph)
        self.bias = nn.Parameter(torch.zeros(()))

    def forward(self, pairs: Int[Tensor, "batch ends"]) -> Float[Tensor, "batch 2"]:
        """Both scores of each pair, whose first two columns are nodes."""
        z = self.layer_outputs()[-1]
        s = (z[pairs[:, 0]] * z[pairs[:, 1]]).sum(1) + self.bias
        return torch.stack([-s / 2, s / 2], 1)

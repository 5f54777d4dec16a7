"""Provably powerful graph network: features of pairs of nodes, combined by matrix products.

    T_mn   = [a_mn, [m = n], [m = n] x_m]                           the graph as a tensor
    T ← [T, F_1(T) F_2(T)] W       (F_1 F_2)_mn = Σ_k F_1(T)_mk F_2(T)_kn,  channel by channel
    f(G)   = ρ([Σ_m T_mm, Σ_{m≠n} T_mn])

F_1 and F_2 are networks applied to every pair. The product sends information along walks m → k → n
through every third node, which a refinement of single nodes cannot see: it counts triangles. The
network distinguishes all graphs that the 2-FWL (3-WL) test distinguishes, such as two triangles and
a hexagon, but not strongly regular graphs with the same parameters. A product takes time
O(nodes³), and memory is O(nodes²): it is for small graphs.

Maron, Ben-Hamu, Serviansky and Lipman (2019), NeurIPS; Morris et al. (2019), AAAI. Notes: J 7.4.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, checked
from chainrule.graphs import Graph, path, union
from chainrule.nn.initialization import initialize
from chainrule.nn.on_graph import OnGraphs

Pairs = Float[Tensor, "graphs places places channels"]
Valid = Bool[Tensor, "graphs places places"]


@checked
class PPGN(nn.Module):
    """One output vector for each graph, from features of all pairs of its nodes.

        T ← [T, F_1(T) F_2(T)] W,   f(G) = ρ([Σ_m T_mm, Σ_{m≠n} T_mn])

    Args:
        in_features: Features of a node.
        hidden_size: Channels of a pair.
        out_features: Outputs of a graph.
        num_layers: Matrix products.

    >>> edge_index = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    >>> batch = torch.tensor([0, 0, 1, 1])  # two graphs of two nodes each
    >>> PPGN(1, 8, 3)(torch.ones(4, 1), edge_index, batch).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        in_features: Count,
        hidden_size: Count,
        out_features: Count,
        num_layers: Count = 3,
    ):
        super().__init__()
        self.layers = nn.ModuleList(
            PPGNLayer(hidden_size if layer else in_features + 2, hidden_size)
            for layer in range(num_layers)
        )
        self.readout = perceptron(2 * hidden_size, hidden_size, out_features)

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        batch: Int[Tensor, " nodes"] | None = None,
    ) -> Float[Tensor, "graphs out_features"]:
        """f(G) of every graph; without `batch` all nodes are one graph."""
        T, valid = pairs(Graph(x, edge_index, batch=batch))
        for layer in self.layers:
            T = layer(T, valid)
        own = T.diagonal(dim1=1, dim2=2).sum(2)
        return self.readout(torch.cat([own, T.sum((1, 2)) - own], 1))


@checked
class PPGNLayer(nn.Module):
    """T ← [T, F_1(T) F_2(T)] W: one matrix product of pair features, channel by channel.

    Args:
        in_channels: Channels of a pair.
        out_channels: Channels of the product and of the output.

    Example:
        >>> import torch
        >>> from chainrule.models.geometric.ppgn import PPGNLayer
        >>> T, valid = torch.randn(2, 5, 5, 3), torch.ones(2, 5, 5, dtype=torch.bool)
        >>> PPGNLayer(in_channels=3, out_channels=8)(T, valid).shape
        torch.Size([2, 5, 5, 8])
    """

    def __init__(self, in_channels: Count, out_channels: Count):
        super().__init__()
        self.left = perceptron(in_channels, out_channels, out_channels)
        self.right = perceptron(in_channels, out_channels, out_channels)
        self.mix = initialize(nn.Linear(in_channels + out_channels, out_channels), "lecun")

    def forward(self, T: Pairs, valid: Valid) -> Float[Tensor, "graphs places places outputs"]:
        """`valid` is True for pairs of nodes of the graph; other pairs stay 0."""
        keep = valid[..., None]
        left, right = self.left(T) * keep, self.right(T) * keep
        product = torch.einsum("gmkc,gknc->gmnc", left, right)
        # Sums over k grow with the graph; its number of nodes keeps them of the size of T.
        product = product / valid[:, 0].sum(1).view(-1, 1, 1, 1)
        return self.mix(torch.cat([T, product], 3)) * keep


def pairs(graph: Graph) -> tuple[Pairs, Valid]:
    """T_mn = [a_mn, [m = n], [m = n] x_m] of every graph, padded with 0; which pairs are nodes'."""
    owner = graph.graph_of_node
    sizes = owner.bincount()
    place = torch.arange(graph.num_nodes, device=owner.device) - (sizes.cumsum(0) - sizes)[owner]
    largest = int(sizes.max())
    T = graph.x.new_zeros(len(sizes), largest, largest, 2 + graph.x.shape[1])
    source, target = graph.edge_index
    T[owner[target], place[target], place[source], 0] = 1.0
    T[owner, place, place, 1] = 1.0
    T[owner, place, place, 2:] = graph.x
    nodes = torch.arange(largest, device=owner.device) < sizes[:, None]
    return T, nodes[:, :, None] & nodes[:, None, :]


def perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    """x ↦ W_2 (W_1 x + b_1)₊ + b_2 along the last axis."""
    return nn.Sequential(
        initialize(nn.Linear(inputs, hidden), "kaiming"),
        nn.ReLU(),
        initialize(nn.Linear(hidden, outputs), "lecun"),
    )


def example() -> tuple[OnGraphs, Tensor]:
    """A network on paths of three to eight nodes, and five of them."""
    graphs = union([Graph(torch.ones(n, 1), path(n)) for n in range(3, 9)])
    return OnGraphs(PPGN(1, 8, 3), graphs), torch.arange(5)

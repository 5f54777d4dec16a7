"""Graph classifier: message passing, then a readout over all nodes of a graph.

    h_m  = message passing on (X, A), L layers
    r(G) = [⊕_{m ∈ G} h_m^1, …, ⊕_{m ∈ G} h_m^L],   ⊕ the sum, the mean or the maximum
    f(G) = W_2 (W_1 r(G) + b_1)₊ + b_2

Every layer is read out, so near and far neighborhoods count. Sums distinguish most: they count,
where a mean forgets how often a feature occurs and a maximum whether it occurs more than once. With
sums the network distinguishes the graphs that the one-dimensional Weisfeiler-Leman test
distinguishes, and never more. r does not depend on the order of the nodes.

Xu, Hu, Leskovec and Jegelka (2019), ICLR; Morris et al. (2019), AAAI. Notes: J 7.4.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, Rate, checked
from chainrule.errors import InputError
from chainrule.graphs import Graph, path, union
from chainrule.models.geometric.message_passing import AGGREGATIONS, MPNNConv, aggregate
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.on_graph import OnGraphs


@checked
class GraphClassifier(nn.Module):
    """One output vector for each graph, from a readout of every layer of message passing.

        f(G) = W_2 (W_1 [⊕_{m ∈ G} h_m^1, …, ⊕_{m ∈ G} h_m^L] + b_1)₊ + b_2

    Args:
        in_features: Features of a node.
        hidden_size: Units of every layer.
        out_features: Outputs of a graph.
        num_layers: Rounds L of message passing.
        aggregation: How a node combines messages: sum, mean or max.
        readout: How a graph combines its nodes: sum, mean or max.
        dropout: Dropout probability of r(G).
        edge_features: Features of an edge.

    >>> edge_index = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    >>> batch = torch.tensor([0, 0, 1, 1])  # two graphs of two nodes each
    >>> GraphClassifier(1, 8, 3)(torch.ones(4, 1), edge_index, batch).shape
    torch.Size([2, 3])
    """

    def __init__(
        self,
        in_features: Count,
        hidden_size: Count,
        out_features: Count,
        num_layers: Count = 3,
        aggregation: str = "sum",
        readout: str = "sum",
        dropout: Rate = 0.0,
        edge_features: Natural = 0,
    ):
        super().__init__()
        if readout not in AGGREGATIONS:
            raise InputError(f"there is no readout {readout!r}; choose {', '.join(AGGREGATIONS)}")
        self.readout, self.dropout = readout, dropout
        self.layers = nn.ModuleList(
            MPNNConv(hidden_size if layer else in_features, hidden_size, aggregation, edge_features)
            for layer in range(num_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_size) for _ in range(num_layers))
        self.head = nn.Sequential(
            initialize(nn.Linear(num_layers * hidden_size, hidden_size), "kaiming"),
            nn.ReLU(),
            initialize(nn.Linear(hidden_size, out_features), "lecun"),
        )

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        batch: Int[Tensor, " nodes"] | None = None,
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> Float[Tensor, "graphs out_features"]:
        """f(G) of every graph; without `batch` all nodes are one graph."""
        r = self.embed(x, edge_index, batch, edge_attr)
        return self.head(dropout(r, self.dropout, self.training))

    def embed(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        batch: Int[Tensor, " nodes"] | None = None,
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> Float[Tensor, "graphs joint"]:
        """r(G) of every graph."""
        graph = Graph(x, edge_index, batch=batch)
        h, outputs = x, []
        for layer, norm in zip(self.layers, self.norms, strict=True):
            h = norm(layer(h, edge_index, edge_attr)).relu()
            outputs.append(aggregate(h, graph.graph_of_node, graph.num_graphs, self.readout))
        return torch.cat(outputs, 1)


def example() -> tuple[OnGraphs, Tensor]:
    """A network on paths of three to eight nodes, and five of them."""
    graphs = union([Graph(torch.ones(n, 1), path(n)) for n in range(3, 9)])
    return OnGraphs(GraphClassifier(1, 8, 3), graphs), torch.arange(5)

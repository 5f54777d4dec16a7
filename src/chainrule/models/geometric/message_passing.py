"""Message passing: each node aggregates the messages of its neighbors, in no particular order.

    a_m = ⊕_{n → m} ψ(x_n, x_nm),   ⊕ the sum, the mean or the maximum        message
    h_m = φ(x_m, a_m)                                                         update

ψ is (V [x_n, x_nm] + c)₊ and φ an affine map of [x_m, a_m]; x_nm are the features of the edge, if
any. ⊕ does not depend on the order, so permuting the nodes permutes the outputs. A node without
incoming edges has a = 0. GCN and GAT are special cases, with fixed and with learned weights in ⊕.

Gilmer, Schoenholz, Riley, Vinyals and Dahl (2017), ICML. Notes: J 7.4.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import Count, Natural, Rate, checked
from chainrule.errors import InputError
from chainrule.graphs import Graph, path
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.on_graph import GraphBuffers, OnGraph, check_edge_features

AGGREGATIONS = ("sum", "mean", "max")


@checked
class MPNNConv(nn.Module):
    """One round of message passing.

        h_m = φ(x_m, ⊕_{n → m} ψ(x_n, x_nm))

    Args:
        in_features: Features of a node.
        out_features: Outputs of a node, and features of a message.
        aggregation: ⊕: sum, mean or max.
        edge_features: Features of an edge.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> MPNNConv(3, 5, "max")(torch.eye(3), edge_index).shape
    torch.Size([3, 5])
    """

    def __init__(
        self,
        in_features: Count,
        out_features: Count,
        aggregation: str = "mean",
        edge_features: Natural = 0,
    ):
        super().__init__()
        if aggregation not in AGGREGATIONS:
            raise InputError(
                f"there is no aggregation {aggregation!r}; choose {', '.join(AGGREGATIONS)}"
            )
        self.aggregation, self.edge_features = aggregation, edge_features
        message = nn.Linear(in_features + edge_features, out_features)
        self.message = initialize(message, "kaiming")
        self.update = initialize(nn.Linear(in_features + out_features, out_features), "lecun")

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        check_edge_features(edge_attr, self.edge_features)
        source, target = edge_index
        if edge_attr is None:  # ψ once for each node instead of once for each edge
            messages = self.message(x).relu().index_select(0, source)
        else:
            both = torch.cat([x.index_select(0, source), edge_attr], 1)
            messages = self.message(both).relu()
        aggregated = aggregate(messages, target, len(x), self.aggregation)
        return self.update(torch.cat([x, aggregated], 1))


@checked
class MPNN(nn.Module):
    """Rounds of message passing with ReLUs between them.

        h_m = φ(x_m, ⊕_{n → m} ψ(x_n, x_nm))   for each layer

    Args:
        in_features: Features of a node.
        hidden: Widths of the hidden layers.
        out_features: Outputs of a node.
        aggregation: ⊕: sum, mean or max.
        dropout: Dropout probability of the inputs of each layer.
        edge_features: Features of an edge.

    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> MPNN(3, [16], 2)(torch.eye(3), edge_index).shape
    torch.Size([3, 2])
    """

    def __init__(
        self,
        in_features: Count,
        hidden: Sequence[Count],
        out_features: Count,
        aggregation: str = "mean",
        dropout: Rate = 0.0,
        edge_features: Natural = 0,
    ):
        super().__init__()
        sizes = [in_features, *hidden, out_features]
        self.dropout, self.edge_features = dropout, edge_features
        self.layers = nn.ModuleList(
            MPNNConv(m, n, aggregation, edge_features) for m, n in pairwise(sizes)
        )

    def forward(
        self,
        x: Float[Tensor, "nodes in_features"],
        edge_index: Int[Tensor, "2 edges"],
        edge_attr: Float[Tensor, "edges edge_features"] | None = None,
    ) -> Float[Tensor, "nodes out_features"]:
        graph = Graph(x, edge_index, edge_attr=edge_attr)
        return self.layer_outputs(**self.precompute(graph))[-1]

    def precompute(self, graph: Graph) -> nn.ModuleDict:
        """The graph itself: messages contain weights from the first layer on."""
        check_edge_features(graph.edge_attr, self.edge_features)
        return nn.ModuleDict({"graph": GraphBuffers(graph)})

    def layer_outputs(self, graph: GraphBuffers) -> list[Tensor]:
        """Outputs of every layer; hidden ones after their ReLU."""
        first, *rest = self.layers
        h = dropout(graph.x, self.dropout, self.training)
        outputs = [first(h, graph.edge_index, graph.edge_attr)]
        for layer in rest:
            outputs[-1] = outputs[-1].relu()
            h = dropout(outputs[-1], self.dropout, self.training)
            outputs.append(layer(h, graph.edge_index, graph.edge_attr))
        return outputs


def aggregate(
    messages: Float[Tensor, "edges width"], target: Int[Tensor, " edges"], nodes: int, how: str
) -> Float[Tensor, "nodes width"]:
    """⊕ over the messages to each target; 0 where there is none."""
    if how == "max":
        into = target[:, None].expand_as(messages)
        zeros = messages.new_zeros(nodes, messages.shape[1])
        return zeros.scatter_reduce(0, into, messages, "amax", include_self=False)
    total = messages.new_zeros(nodes, messages.shape[1]).index_add(0, target, messages)
    if how == "sum":
        return total
    return total / target.bincount(minlength=nodes).clamp_min(1)[:, None]


def example() -> tuple[OnGraph, Tensor]:
    """A network on a path of eight nodes with an edge feature, and five of the nodes."""
    edge_index = path(8)
    middle = edge_index.float().mean(0)[:, None]
    graph = Graph(torch.eye(8), edge_index, edge_attr=middle)
    return OnGraph(MPNN(8, [16], 3, "max", edge_features=1), graph), torch.arange(5)

"""Message passing: every node gathers what its neighbors send, in no particular order.

    a_m = ⊕_{n → m} ψ(x_n, x_nm),   ⊕ the sum, the mean or the maximum        message
    h_m = φ(x_m, a_m)                                                         update

ψ is (V [x_n, x_nm] + c)₊ and φ an affine map of [x_m, a_m]; x_nm is what is known of the edge, if
anything. ⊕ does not depend on the order, so permuting the nodes permutes the outputs. A node that
nobody sends to has a = 0. GCN and GAT are special cases with fixed and with learned weights in ⊕.

Gilmer, Schoenholz, Riley, Vinyals and Dahl (2017), ICML. Notes: J 7.4.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.on_graph import Held, OnGraph

AGGREGATIONS = ("sum", "mean", "max")


class Messages(nn.Module):
    """One layer: ψ, ⊕ and φ."""

    def __init__(self, inputs: int, outputs: int, aggregation: str, edge_features: int = 0):
        super().__init__()
        if aggregation not in AGGREGATIONS:
            raise InputError(
                f"there is no aggregation {aggregation!r}; choose {', '.join(AGGREGATIONS)}"
            )
        self.aggregation = aggregation
        self.message = initialize(nn.Linear(inputs + edge_features, outputs), "kaiming")
        self.update = initialize(nn.Linear(inputs + outputs, outputs), "lecun")

    def forward(self, x: Float[Tensor, "nodes inputs"], graph: Graph) -> Tensor:
        """φ(x_m, ⊕ ψ(x_n, x_nm)) of every node."""
        source, target = graph.edge_index
        if graph.edge_x is None:  # ψ once for each node instead of once for each edge
            sent = self.message(x).relu().index_select(0, source)
        else:
            both = torch.cat([x.index_select(0, source), graph.edge_x], 1)
            sent = self.message(both).relu()
        gathered = aggregate(sent, target, len(x), self.aggregation)
        return self.update(torch.cat([x, gathered], 1))


class MessagePassing(nn.Module):
    """Layers of messages with ReLUs between them; `OnGraph` puts it on a graph."""

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        aggregation: str = "mean",
        dropout: float = 0.0,
        edge_features: int = 0,
    ):
        super().__init__()
        sizes = [inputs, *hidden, outputs]
        if min(sizes) < 1 or not 0 <= dropout < 1:
            raise InputError(
                "expected layers of at least one unit and a dropout from 0 to below 1, got "
                f"{'-'.join(map(str, sizes))} and {dropout}"
            )
        self.rate = dropout
        self.layers = nn.ModuleList(
            Messages(m, n, aggregation, edge_features) for m, n in pairwise(sizes)
        )

    def views(self, graph: Graph) -> nn.ModuleDict:
        """The graph as it is."""
        return nn.ModuleDict({"held": Held(graph)})

    def forward(self, held: Held) -> Float[Tensor, "nodes outputs"]:
        return self.on(held.graph)

    def on(self, graph: Graph) -> Float[Tensor, "nodes outputs"]:
        """One output for each node of any graph."""
        first, *rest = self.layers
        h = first(dropout(graph.x, self.rate, self.training), graph)
        for layer in rest:
            h = layer(dropout(h.relu(), self.rate, self.training), graph)
        return h


def aggregate(
    sent: Float[Tensor, "edges width"], target: Int[Tensor, " edges"], nodes: int, how: str
) -> Float[Tensor, "nodes width"]:
    """⊕ over the messages of each target; 0 where there is none."""
    if how == "max":
        into = target[:, None].expand_as(sent)
        zeros = sent.new_zeros(nodes, sent.shape[1])
        return zeros.scatter_reduce(0, into, sent, "amax", include_self=False)
    total = sent.new_zeros(nodes, sent.shape[1]).index_add(0, target, sent)
    if how == "sum":
        return total
    return total / target.bincount(minlength=nodes).clamp_min(1)[:, None]


def example() -> tuple[OnGraph, Tensor]:
    """Two layers on a ring of eight nodes with a chord, asked for five of them."""
    ring = torch.stack([torch.arange(8), (torch.arange(8) + 1) % 8])
    edge_index = undirected(torch.cat([ring, torch.tensor([[0], [4]])], 1))
    lengths = (edge_index[0] - edge_index[1]).abs().float()[:, None]
    graph = Graph(torch.eye(8), edge_index, lengths)
    return OnGraph(MessagePassing(8, [16], 3, "max", edge_features=1), graph), torch.arange(5)

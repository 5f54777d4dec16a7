"""Graph classifier: message passing, then a read-out that sees all nodes of a graph at once.

    h_m  = message passing on (X, A), L layers
    r(G) = [⊕_{m ∈ G} h_m^1, …, ⊕_{m ∈ G} h_m^L],   ⊕ the sum, the mean or the maximum
    f(G) = W_2 (W_1 r(G) + b_1)₊ + b_2

Every layer is read, near and far. Sums tell most: they count, where a mean forgets how often and a
maximum whether more than once; with them the network tells apart what one-dimensional
Weisfeiler-Leman tells apart, and never more. r does not depend on the order of the nodes.

Xu, Hu, Leskovec and Jegelka (2019), ICLR; Morris et al. (2019), AAAI. Notes: J 7.4.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.graphs import Graph, undirected, union
from chainrule.models.geometric.message_passing import AGGREGATIONS, Messages, aggregate
from chainrule.nn.dropout import dropout
from chainrule.nn.initialization import initialize
from chainrule.nn.on_graph import OnGraphs


class GraphClassifier(nn.Module):
    """One output vector for each graph of a union; `OnGraphs` puts it on a set of graphs."""

    def __init__(
        self,
        inputs: int,
        width: int,
        outputs: int,
        layers: int = 3,
        aggregation: str = "sum",
        readout: str = "sum",
        dropout: float = 0.0,
    ):
        super().__init__()
        if min(inputs, width, outputs, layers) < 1 or not 0 <= dropout < 1:
            raise InputError(
                "expected inputs, width, outputs and layers of at least 1 and a dropout from 0 to "
                f"below 1, got {inputs}, {width}, {outputs}, {layers} and {dropout}"
            )
        if readout not in AGGREGATIONS:
            raise InputError(f"there is no read-out {readout!r}; choose {', '.join(AGGREGATIONS)}")
        self.readout, self.rate = readout, dropout
        self.layers = nn.ModuleList(
            Messages(inputs if place == 0 else width, width, aggregation) for place in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.head = nn.Sequential(
            initialize(nn.Linear(layers * width, width), "kaiming"),
            nn.ReLU(),
            initialize(nn.Linear(width, outputs), "lecun"),
        )

    def forward(self, graph: Graph) -> Float[Tensor, "graphs outputs"]:
        return self.head(dropout(self.read(graph), self.rate, self.training))

    def read(self, graph: Graph) -> Float[Tensor, "graphs width"]:
        """r(G), an embedding of each graph."""
        h, found = graph.x, []
        for layer, norm in zip(self.layers, self.norms, strict=True):
            h = norm(layer(h, graph)).relu()
            found.append(aggregate(h, graph.graph_of_node, graph.graphs, self.readout))
        return torch.cat(found, 1)


def example() -> tuple[OnGraphs, Tensor]:
    """A small network on rings of three to eight nodes, asked for five of them."""
    rings = [
        Graph(torch.ones(n, 1), undirected(torch.stack([torch.arange(n), torch.arange(n).roll(1)])))
        for n in range(3, 9)
    ]
    return OnGraphs(GraphClassifier(1, 8, 3), union(rings)), torch.arange(5)

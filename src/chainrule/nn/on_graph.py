"""Networks on the graph that they learn from: a question is the number of a node, or of a graph.

    f(m) = F(X, A)_m             one output for each node asked for, out of the whole graph's
    f(k) = F(X_k, A_k)           one output for each graph asked for, out of a union of graphs

The network knows nothing of the graph: it can be put on another one. It says by `views(graph)` what
of the graph it looks at, which is then computed once: Ā, Ā X, a Fourier basis. Notes: J 7.4.
"""

from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.errors import InputError
from chainrule.graphs import Graph, select
from chainrule.nn.dropout import MASKS


class OnGraph(nn.Module):
    """A network with one output for each node, on its graph, which is not part of what is saved.

    views: what the network looks at, by the names of the arguments of its forward pass.
    """

    def __init__(self, network: nn.Module, graph: Graph):
        super().__init__()
        self.network = network
        self.views: nn.ModuleDict = network.views(graph)  # type: ignore[operator]

    def forward(self, nodes: Int[Tensor, " batch"]) -> Float[Tensor, "batch outputs"]:
        """The outputs of these nodes; those of all others are computed on the way."""
        if MASKS.get() is not None:
            raise InputError(
                "networks on a graph cannot be trained many at once: their dropout is drawn for "
                "all nodes, not for the examples; train the members one by one"
            )
        return self.network(**dict(self.views.items())).index_select(0, nodes)


class Held(nn.Module):
    """A graph's tensors, which move with the module that holds them and are not saved."""

    x: Tensor
    edge_index: Tensor
    edge_x: Tensor | None
    batch: Tensor | None

    def __init__(self, graph: Graph):
        super().__init__()
        for name in ("x", "edge_index", "edge_x", "batch"):
            self.register_buffer(name, getattr(graph, name), persistent=False)

    @property
    def graph(self) -> Graph:
        return Graph(self.x, self.edge_index, self.edge_x, self.batch)


class OnGraphs(nn.Module):
    """A network with one output per graph, on a union of graphs."""

    def __init__(self, network: nn.Module, graphs: Graph):
        super().__init__()
        self.network, self.held = network, Held(graphs)

    def forward(self, which: Int[Tensor, " batch"]) -> Float[Tensor, "batch outputs"]:
        """The outputs of the graphs of these numbers; the others are not looked at."""
        return self.network(select(self.held.graph, which))

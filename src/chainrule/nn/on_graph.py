"""Networks on a fixed graph: the input is the number of a node, or of a graph.

    f(m) = F(X, A)_m             OnGraph: the outputs of the nodes asked for
    f(k) = F(X_k, A_k)           OnGraphs: the outputs of the graphs asked for

Such networks train on batches of numbers like any other model. What depends on the graph alone
(Ā, Ā X, a Fourier basis) is computed once. A graph network states what that is:

    precompute(graph)            the constants, as modules that move between devices
    layer_outputs(**constants)   the outputs of all layers, the last one's at the end

and its own forward pass is `layer_outputs(**precompute(graph))[-1]`. Notes: J 7.4.
"""

from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from chainrule.arguments import checked
from chainrule.errors import InputError, NotBatchableError
from chainrule.graphs import Graph, select
from chainrule.nn.dropout import MASKS


@checked
class OnGraph(nn.Module):
    """A node network on a fixed graph: f(m) = F(X, A)_m.

    The graph is not part of the state that is saved, so the weights load on any other graph.

    Args:
        network: A network with one output for each node, such as `GCN`.
        graph: The graph that it sees.

    >>> import torch
    >>> from chainrule.graphs import path
    >>> from chainrule.models.geometric import GCN
    >>> model = OnGraph(GCN(8, [16], 3), Graph(torch.eye(8), path(8)))
    >>> model(torch.tensor([0, 5])).shape
    torch.Size([2, 3])
    """

    def __init__(self, network: nn.Module, graph: Graph):
        super().__init__()
        self.network = network
        self.constants: nn.ModuleDict = network.precompute(graph)  # type: ignore[operator]

    def forward(self, nodes: Int[Tensor, " batch"]) -> Float[Tensor, "batch outputs"]:
        """The outputs of these nodes; every pass computes the whole graph."""
        return self.layer_outputs()[-1].index_select(0, nodes)

    def layer_outputs(self) -> list[Tensor]:
        """The outputs of every layer at all nodes, hidden ones after their nonlinearity."""
        if MASKS.get() is not None:
            raise NotBatchableError(
                "networks on a graph cannot be trained in one batch of many networks: their "
                "dropout masks cover all nodes, not the examples; train them one by one"
            )
        network: Any = self.network
        return network.layer_outputs(**dict(self.constants.items()))


@checked
class OnGraphs(nn.Module):
    """A graph network on fixed graphs: f(k) = F(X_k, A_k).

    Args:
        network: A network called as (x, edge_index, batch), with edge_attr last where edges have
            features, with one output for each graph.
        graphs: The union of the graphs; it is not part of the state that is saved.

    >>> import torch
    >>> from chainrule.graphs import path, union
    >>> from chainrule.models.geometric import GraphClassifier
    >>> graphs = union([Graph(torch.ones(n, 1), path(n)) for n in (3, 4, 5)])
    >>> OnGraphs(GraphClassifier(1, 8, 2), graphs)(torch.tensor([2, 0])).shape
    torch.Size([2, 2])
    """

    def __init__(self, network: nn.Module, graphs: Graph):
        super().__init__()
        self.network, self.graphs = network, GraphBuffers(graphs)

    def forward(self, which: Int[Tensor, " batch"]) -> Float[Tensor, "batch outputs"]:
        """The outputs of the graphs with these numbers; the others are not computed."""
        chosen = select(self.graphs.graph, which)
        known = () if chosen.edge_attr is None else (chosen.edge_attr,)
        return self.network(chosen.x, chosen.edge_index, chosen.batch, *known)


@checked
class GraphBuffers(nn.Module):
    """The tensors of a graph as buffers, which move between devices and are not saved.

    Args:
        graph: The graph to hold.
    """

    x: Tensor
    edge_index: Tensor
    edge_weight: Tensor | None
    edge_attr: Tensor | None
    batch: Tensor | None

    def __init__(self, graph: Graph):
        super().__init__()
        for name in ("x", "edge_index", "edge_weight", "edge_attr", "batch"):
            self.register_buffer(name, getattr(graph, name), persistent=False)

    @property
    def graph(self) -> Graph:
        return Graph(
            self.x,
            self.edge_index,
            edge_weight=self.edge_weight,
            edge_attr=self.edge_attr,
            batch=self.batch,
        )


def check_edge_features(edge_attr: Tensor | None, expected: int) -> None:
    """edge_attr has as many features as a layer was built for; None has 0."""
    features = 0 if edge_attr is None else edge_attr.shape[1]
    if features != expected:
        raise InputError(
            f"expected edge_attr with {expected} features per edge, got {features}; set "
            "edge_features when the network is built"
        )

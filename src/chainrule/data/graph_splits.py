"""Splits of the nodes of one graph, or of many graphs: examples are indices into a graph.

    x    (n,) int64: the nodes (or the graphs of a union) of this split
    y    (n,) int64: their classes

The whole graph is available during training, test nodes included; only their labels are held out.
"""

from dataclasses import dataclass

from torch import Tensor

from chainrule.data.splits import Encoder, Split, Splits
from chainrule.graphs import Graph


@dataclass(frozen=True, repr=False, kw_only=True)
class GraphSplits(Splits):
    """Three splits of node indices, and their graph.

    graph: the whole graph, with the features of every node.
    labels: the class of every node, -1 where it is unknown.
    """

    graph: Graph
    labels: Tensor

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n  graph: {self.graph}"


def graph_splits(
    graph: Graph,
    labels: Tensor,
    parts: tuple[Tensor, Tensor, Tensor],
    classes: tuple[str, ...],
    encoder: Encoder | None = None,
    remarks: tuple[str, ...] = (),
) -> GraphSplits:
    """The splits of a graph whose node indices are the three `parts`."""
    train, validation, test = (Split(rows, labels[rows]) for rows in parts)
    return GraphSplits(
        train, validation, test, classes, encoder, remarks, graph=graph, labels=labels
    )


def node_features(data: GraphSplits) -> Splits:
    """The same splits without the graph: x holds the features of each node."""
    train, validation, test = (
        Split(data.graph.x[x], y) for x, y in (data.train, data.validation, data.test)
    )
    return Splits(train, validation, test, data.classes, None, data.remarks)

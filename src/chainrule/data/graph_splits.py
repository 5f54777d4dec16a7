"""Splits of the nodes of one graph, or of many graphs: examples are numbers, the graph is beside.

    x    (n,) int64: the nodes (or the graphs of a union) of this split
    y    (n,) int64: their classes

The whole graph is known from the start, test nodes and all; what training must not see is their
labels.
"""

from dataclasses import dataclass

from torch import Tensor

from chainrule.data.splits import Split, Splits
from chainrule.graphs import Graph


@dataclass(frozen=True, repr=False, kw_only=True)
class GraphSplits(Splits):
    """Three splits of node numbers, and the graph; labels of all nodes, -1 where there is none."""

    graph: Graph
    labels: Tensor

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n  graph: {self.graph}"


def split(
    graph: Graph,
    labels: Tensor,
    parts: tuple[Tensor, Tensor, Tensor],
    classes: tuple[str, ...],
    **more: object,
) -> GraphSplits:
    """The splits whose node numbers these are."""
    train, validation, test = (Split(rows, labels[rows]) for rows in parts)
    return GraphSplits(train, validation, test, classes, graph=graph, labels=labels, **more)  # type: ignore[arg-type]


def features_alone(data: GraphSplits) -> Splits:
    """The same splits without the graph: the features of each node."""
    train, validation, test = (
        Split(data.graph.x[x], y) for x, y in (data.train, data.validation, data.test)
    )
    return Splits(train, validation, test, data.classes, None, data.notes)

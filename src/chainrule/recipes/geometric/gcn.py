"""Your own graph: a table of nodes, a table of edges, and a column to predict.

    chainrule train gcn --edges edges.csv --nodes nodes.csv --target column

The first column of the nodes is their id, unless one is called id; the first two columns of the
edges are ids. Columns of numbers are standardized, categories become 0/1 columns. Nodes without a
label stay in the graph, and `chainrule predict RUN nodes.csv` says what they are. Notes: J 7.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graph_table import graph_table
from chainrule.errors import InputError
from chainrule.models.geometric.gcn import GCN
from chainrule.nn.on_graph import OnGraph
from chainrule.recipes.families.node_classification import ONE_GRAPH, NodeRecipe
from chainrule.runs.recipe import DataSummary
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """The columns of the nodes → hidden layers, coupled along the edges → one of the columns."""

    reference: ClassVar[str] = "J 7.4"
    unsupported: ClassVar[Mapping[str, str]] = ONE_GRAPH
    data_fields: ClassVar[tuple[str, ...]] = ("edges", "nodes", "target", "ignore")

    edges: str
    """CSV file of the edges, with a header: the ids of both ends."""
    nodes: str
    """CSV file of the nodes, with a header: an id, columns, the target."""
    target: str
    """The column to predict; nodes without a value stay unlabeled."""
    ignore: tuple[str, ...] = ()
    """Columns of the nodes to ignore."""
    hidden: tuple[int, ...] = (32,)
    """Widths of the hidden layers."""
    dropout: float = 0.5
    """Dropout rate of the inputs and of the hidden layers."""
    settings: Settings = replace(
        NodeRecipe.settings, epochs=400, learning_rate=0.01, weight_decay=5e-4, patience=50
    )

    def __post_init__(self) -> None:
        for name in ("edges", "nodes"):  # the run must be able to find them from any folder
            object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))

    def data(self, folder: Path | None) -> GraphSplits:
        return graph_table(self.edges, self.nodes, self.target, self.seed, self.ignore)

    def model(self, summary: DataSummary) -> nn.Module:
        graph = self.data(None).graph
        if graph.x.shape[1] != summary.inputs:
            raise InputError(
                f"{self.nodes} is not the table that the run has learned from: it gives "
                f"{graph.x.shape[1]} features, not {summary.inputs}; train again"
            )
        return OnGraph(GCN(summary.inputs, self.hidden, summary.outputs, self.dropout), graph)

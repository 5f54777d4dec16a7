"""Your own graph: a table of nodes, a table of edges, and a column to predict.

    chainrule train gcn --edges edges.csv --nodes nodes.csv --target column

The first column of the nodes is their id, unless one is called id; the first two columns of the
edges are ids. Columns of numbers are standardized, categories become 0/1 columns. Nodes without a
label stay in the graph; `chainrule predict RUN nodes.csv` says what they are, and with a table of
edges, `chainrule predict RUN new.csv new-edges.csv`, what new nodes are. Notes: J 7.4, J 7.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from torch import nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.graph_table import GraphOptions, graph_table
from chainrule.errors import InputError
from chainrule.graphs import Graph
from chainrule.models.geometric.chebyshev import ChebNet
from chainrule.models.geometric.gat import GAT
from chainrule.models.geometric.gcn import GCN
from chainrule.models.geometric.message_passing import MPNN
from chainrule.nn.on_graph import OnGraph
from chainrule.recipes.families.class_reports import (
    calibration_figure,
    class_report,
    with_class_metrics,
)
from chainrule.recipes.families.node_classification import ONE_GRAPH, NodeRecipe
from chainrule.runs.recipe import DataSummary, Metrics, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """The columns of the nodes → hidden layers, coupled along the edges → one of the columns."""

    reference: ClassVar[str] = "J 7.4"
    unsupported: ClassVar[Mapping[str, str]] = ONE_GRAPH
    data_fields: ClassVar[tuple[str, ...]] = (
        *("edges", "nodes", "target", "ignore"),
        *("directed", "weight", "edge_features", "model_name"),
    )

    edges: str
    """Table of the edges, with a header: the ids of both ends, and maybe more."""
    nodes: str
    """Table of the nodes, with a header: an id, columns, the target."""
    target: str
    """The column to predict; nodes without a value stay unlabeled."""
    ignore: tuple[str, ...] = ()
    """Columns of the nodes to ignore."""
    directed: bool = False
    """Let an edge carry messages from its first node to its second only."""
    weight: str = ""
    """Column of the edges with their weights, of at least 0."""
    edge_features: tuple[str, ...] = ()
    """Columns of the edges that gat and mpnn read."""
    model_name: Literal["gcn", "gat", "cheb", "mpnn"] = "gcn"
    """A graph convolution, attention along the edges, Chebyshev filters of the Laplacian, or
    message passing."""
    hidden: tuple[int, ...] = (32,)
    """Widths of the hidden layers; of gat, of all heads together."""
    num_heads: int = 4
    """Attention heads of the hidden layers of gat."""
    terms: int = 3
    """Chebyshev polynomials of a filter of cheb, which reaches one hop less."""
    dropout: float = 0.5
    """Dropout rate of the inputs and of the hidden layers."""
    settings: Settings = replace(
        NodeRecipe.settings, epochs=400, learning_rate=0.01, weight_decay=5e-4, patience=50
    )

    def __post_init__(self) -> None:
        for name in ("edges", "nodes"):  # the run must be able to find them from any folder
            object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))

    def data(self, folder: Path | None) -> GraphSplits:
        reads = self.model_name in ("gat", "mpnn")
        if self.edge_features and not reads:
            raise InputError(
                f"`model_name` {self.model_name} reads no features of edges; expected gat or mpnn "
                "with `edge_features`"
            )
        if self.directed and self.model_name == "cheb":
            raise InputError(
                "the filters of `model_name` cheb are those of undirected graphs; expected gcn, "
                "gat or mpnn with `directed`"
            )
        options = GraphOptions(self.directed, self.weight, self.edge_features, reads)
        return graph_table(self.edges, self.nodes, self.target, self.seed, self.ignore, options)

    def model(self, summary: DataSummary) -> nn.Module:
        graph = self.data(None).graph
        if graph.x.shape[1] != summary.inputs:
            raise InputError(
                f"{self.nodes} is not the table that the run has learned from: it gives "
                f"{graph.x.shape[1]} features, not {summary.inputs}; train again"
            )
        return OnGraph(self.classifier(graph, summary.outputs), graph)

    def classifier(self, graph: Graph, classes: int) -> nn.Module:
        """The network of the nodes of such a graph."""
        sizes = graph.x.shape[1], self.hidden, classes
        if self.model_name == "gcn":
            return GCN(*sizes, self.dropout)
        if self.model_name == "cheb":
            return ChebNet(*sizes, self.terms, self.dropout)
        if self.model_name == "mpnn":
            known = graph.num_edge_features
            return MPNN(*sizes, dropout=self.dropout, edge_features=known)
        if any(width % self.num_heads for width in self.hidden):
            raise InputError(
                f"`hidden` must be multiples of `num_heads`, got {self.hidden} and {self.num_heads}"
            )
        widths = [width // self.num_heads for width in self.hidden]
        heads = [*(self.num_heads for _ in widths), 1]
        return GAT(graph.x.shape[1], widths, classes, heads, self.dropout, graph.num_edge_features)

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_class_metrics(predictions, super().evaluate(predictions))

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return super().texts(predictions) | class_report(predictions)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        return super().figures(predictions) | {"calibration": calibration_figure(predictions)}

"""Your own graphs: a class for each of many graphs, by message passing with a readout.

    chainrule train graphs --graphs graphs.csv --nodes nodes.csv --edges edges.csv --target label
    chainrule predict RUN new-nodes.csv new-edges.csv

    f(G) = W_2 (W_1 [Σ_m h_m^1, …, Σ_m h_m^L] + b_1)₊ + b_2

The table of graphs has an id and the class, that of nodes an id, the graph and columns, that of
edges the ids of both ends and maybe features. Xu et al. (2019), ICLR. Notes: J 7.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from torch import nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.graph_set import GraphEncoder, graph_set
from chainrule.data.readers.tables.columns import read_csv
from chainrule.errors import InputError
from chainrule.models.geometric.graph_classifier import GraphClassifier
from chainrule.nn.on_graph import OnGraphs
from chainrule.recipes.families.class_reports import class_report, with_class_metrics
from chainrule.runs.recipe import BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Columns of nodes and edges → layers of message passing, each read out → a class."""

    reference: ClassVar[str] = "J 7.4"
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher"), "its examples are graphs, which all members would hold"
    ) | {"export": "its inputs are places in a list of graphs, which a program would have to hold"}
    data_fields: ClassVar[tuple[str, ...]] = (
        *("graphs", "nodes", "edges", "target", "edge_features"),
    )

    graphs: str
    """Table of the graphs, with a header: an id and the target."""
    nodes: str
    """Table of the nodes, with a header: an id, the graph of each, and columns."""
    edges: str
    """Table of the edges, with a header: the ids of both ends, and maybe more."""
    target: str
    """The column of the graphs to predict."""
    edge_features: tuple[str, ...] = ()
    """Columns of the edges that the network reads."""
    hidden_size: int = 32
    """Hidden units of each layer."""
    num_layers: int = 3
    """Number of message-passing layers."""
    aggregation: Literal["sum", "mean", "max"] = "sum"
    """Aggregation of messages at a node."""
    readout: Literal["sum", "mean", "max"] = "mean"
    """Readout over the nodes of a graph."""
    dropout: float = 0.1
    """Dropout rate of the readout."""
    settings: Settings = Settings(
        epochs=100,
        batch_size=32,
        schedule="one-cycle",
        learning_rate=5e-3,
        weight_decay=1e-4,
    )

    def __post_init__(self) -> None:
        for name in ("graphs", "nodes", "edges"):  # found from any folder
            object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))

    def data(self, folder: Path | None) -> GraphSplits:
        tables = self.graphs, self.nodes, self.edges
        return graph_set(*tables, self.target, self.seed, self.edge_features)

    def summarize(self, data: GraphSplits) -> DataSummary:
        widths = data.graph.x.shape[1], data.graph.num_edge_features
        return replace(super().summarize(data), shape=widths)

    def model(self, summary: DataSummary) -> nn.Module:
        features, edge_features = summary.shape
        return GraphClassifier(
            features,
            self.hidden_size,
            summary.outputs,
            self.num_layers,
            self.aggregation,
            self.readout,
            self.dropout,
            edge_features,
        )

    def network(self, model: nn.Module, data: GraphSplits) -> OnGraphs:
        return OnGraphs(model, data.graph)

    def network_for(self, model: nn.Module) -> nn.Module:
        return OnGraphs(model, self.data(None).graph)

    def answer_nodes(
        self, model: nn.Module, paths: Sequence[Path], summary: DataSummary
    ) -> list[dict[str, Any]]:
        encoder: Any = summary.encoder
        assert isinstance(encoder, GraphEncoder)
        nodes = [path for path in paths if {encoder.id, encoder.graph} <= {*read_csv(path)}]
        edges = [path for path in paths if path not in nodes]
        if len(nodes) != 1 or len(edges) != 1:
            raise InputError(
                f"expected two tables, one of nodes with the columns {encoder.id!r} and "
                f"{encoder.graph!r} and one of edges, got {len(nodes)} and {len(edges)}"
            )
        union, names, _ = encoder.encode_tables(nodes[0], edges[0])
        found = outputs(OnGraphs(model, union), (torch.arange(len(names)),)).float()
        answers = self.decode(found, summary)
        return [{"input": name} | answer for name, answer in zip(names, answers, strict=True)]

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_class_metrics(predictions, super().evaluate(predictions))

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return class_report(predictions)

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.predictions import confusion_matrix
        from chainrule.runs.pictures import counts

        y, classes = predictions.data.test.y, predictions.data.classes
        predicted = predictions.outputs("test").argmax(1)
        wrong = f"test: {int((predicted != y).sum())} of {len(y)} wrong"
        return {"confusion": confusion_matrix(counts(y, predicted, len(classes)), classes, wrong)}

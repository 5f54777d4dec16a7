"""Shared by the recipes of node classification: an example is the index of a node.

    minimize  mean cross-entropy of f(X, A)_m over the training nodes m

Every step computes the outputs of the whole graph, of which the loss uses those of the training
nodes and early stopping those of the validation nodes. A run saves the network without the graph.
Kipf and Welling (2017). Notes: J 7.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.node_encoder import NodeEncoder
from chainrule.data.readers.tables.columns import read_csv
from chainrule.errors import InputError
from chainrule.nn.on_graph import OnGraph
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Predictions
from chainrule.training import Settings, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = 2**20  # nodes in a step: every step computes the whole graph, so it may use all of them

ONE_GRAPH = dict.fromkeys(
    ("members", "teacher"), "its examples are nodes of one graph, which all members would hold"
) | {
    "export": "its inputs are places in one graph, which a program would have to hold",
    "processes": "its examples are nodes of one graph, which cannot be divided",
}


@dataclass(frozen=True, kw_only=True)
class NodeRecipe(BaseRecipe):
    """Classification of the nodes of one graph."""

    unsupported: ClassVar[Mapping[str, str]] = ONE_GRAPH | {
        "predict": "its examples are the nodes of one published graph"
    }

    settings: Settings = Settings(batch_size=ALL)

    def summarize(self, data: GraphSplits) -> DataSummary:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        shape = (data.graph.x.shape[1],)
        return DataSummary(
            shape, data.classes, examples=examples, remarks=data.remarks, encoder=data.encoder
        )

    def network(self, model: nn.Module, data: GraphSplits) -> OnGraph:
        return on_graph(model, data)

    def answer_nodes(
        self, model: nn.Module, paths: Sequence[Path], summary: DataSummary
    ) -> list[dict[str, Any]]:
        encoder: Any = summary.encoder
        found = nodes_answered(model, paths, encoder)
        decoded = self.decode(torch.stack([output for _, output in found]), summary)
        pairs = zip(found, decoded, strict=True)
        return [{"input": name} | answer for (name, _), answer in pairs]

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.recipes.families.node_pictures import pictures  # drawing is slow to import

        return pictures(predictions, on_graph(predictions.model, predictions.data))


def nodes_answered(
    model: nn.Module, paths: Sequence[Path], encoder: NodeEncoder
) -> list[tuple[str, Tensor]]:
    """(id, outputs) of every node of these tables, some of which may be new.

    model: on the training graph.
    paths: tables of nodes, and tables of further edges.
    encoder: of the training graph.
    """
    nodes, edges = encoder.divided(paths)
    if not nodes:
        raise InputError(f"expected a table with the column {encoder.id!r}, got edges only")
    asked = [read_csv(path)[encoder.id] for path in nodes]
    known = encoder.known()
    if edges or any(name not in known for names in asked for name in names):
        if not edges:
            encoder.encode_file(nodes[0])  # says which nodes are new
        graph, places = encoder.extended(nodes, edges)
        model = OnGraph(model.network, graph)  # type: ignore[arg-type]
    else:
        places = [encoder.encode_file(path) for path in nodes]
    found = outputs(model, (torch.cat(places),)).float()
    return list(zip([name for names in asked for name in names], found, strict=True))


def on_graph(model: nn.Module, data: GraphSplits) -> OnGraph:
    """The network on the graph of the data, unless it holds a graph itself."""
    return model if isinstance(model, OnGraph) else OnGraph(model, data.graph)


def predicted_classes(predictions: Predictions) -> Tensor:
    """The most probable class of every node."""
    data = predictions.data
    model = on_graph(predictions.model, data)
    nodes = torch.arange(data.graph.num_nodes)
    return predictions.once("nodes", lambda: outputs(model, (nodes,)).argmax(1))

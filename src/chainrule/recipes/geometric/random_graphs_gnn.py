"""Random graphs classified by their generating model, by message passing with a readout.

    f(G) = W_2 (W_1 [Σ_m h_m^1, …, Σ_m h_m^L] + b_1)₊ + b_2

All graphs have the same node features and the same mean degree, so only their structure tells them
apart. The baseline is the Weisfeiler-Leman kernel, which bounds the power of message passing.
Xu et al. (2019), ICLR; Shervashidze et al. (2011), JMLR 12. Notes: J 7.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import random_graphs
from chainrule.data.graph_splits import GraphSplits
from chainrule.models.geometric.graph_classifier import GraphClassifier
from chainrule.models.geometric.weisfeiler_leman import WeisfeilerLeman
from chainrule.nn.on_graph import OnGraphs
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings, evaluate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDS = (1, 2, 3)
RIDGES = (0.01, 0.1, 1.0)


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """Three layers of 32 units, each read out by a sum, then 32 hidden units → 4 laws."""

    reference: ClassVar[str] = "J 7.4"

    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("members", "teacher"), "its examples are graphs, which all members would hold"
    ) | {"predict": "its examples are the graphs of one data set"}

    hidden_size: int = 32
    """Hidden units of each layer."""
    num_layers: int = 3
    """Number of message-passing layers."""
    aggregation: str = "sum"
    """Aggregation of messages at a node: sum, mean or max."""
    readout: str = "mean"
    """Readout over the nodes of a graph: sum, mean or max."""
    settings: Settings = Settings(
        epochs=60, batch_size=64, schedule="one-cycle", learning_rate=5e-3, weight_decay=1e-4
    )

    def data(self, folder: Path | None) -> GraphSplits:
        return random_graphs.load(folder, self.seed)

    def summarize(self, data: GraphSplits) -> DataSummary:
        return replace(super().summarize(data), shape=(data.graph.x.shape[1],), encoder=None)

    def model(self, summary: DataSummary) -> nn.Module:
        return GraphClassifier(
            summary.inputs,
            self.hidden_size,
            summary.outputs,
            self.num_layers,
            self.aggregation,
            self.readout,
        )

    def network(self, model: nn.Module, data: GraphSplits) -> OnGraphs:
        return OnGraphs(model, data.graph)

    def baselines(self, data: GraphSplits) -> dict[str, Metrics]:
        """The kernel whose rounds and ridge are best on the validation graphs."""
        best: tuple[float, Metrics] = (-1.0, {})
        for rounds in ROUNDS:
            model = WeisfeilerLeman(data.graph, len(data.classes), rounds)
            for ridge in RIDGES:
                model.fit(*data.train, ridge)
                found = {s: evaluate(model, getattr(data, s), self.task(data)) for s in SPLITS}
                best = max(best, (found["validation"]["accuracy"], found), key=lambda pair: pair[0])
        return {"Weisfeiler-Leman kernel": best[1]}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.predictions import confusion_matrix
        from chainrule.runs.pictures import counts

        y, classes = predictions.data.test.y, predictions.data.classes
        predicted = predictions.outputs("test").argmax(1)
        wrong = f"test: {int((predicted != y).sum())} of {len(y)} wrong"
        return {"confusion": confusion_matrix(counts(y, predicted, len(classes)), classes, wrong)}

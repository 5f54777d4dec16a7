"""Zachary's karate club: the side of every member from two labels and the friendships.

    Y = softmax(Ā (Ā X W_0)₊ W_1),   X = I

The network is given the sides of the two leaders and the friendships. Zachary (1977); Kipf and
Welling (2017). Notes: J 7.4.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import karate
from chainrule.data.graph_splits import GraphSplits
from chainrule.learning.tasks import Task
from chainrule.models.geometric.gcn import GCN
from chainrule.recipes.families.node_classification import NodeRecipe, predicted_classes
from chainrule.runs.recipe import DataSummary, Predictions
from chainrule.training import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """34 members → 16 hidden units → 2 clubs, 594 parameters."""

    reference: ClassVar[str] = "J 7.4"

    hidden: tuple[int, ...] = (16,)
    """Widths of the hidden layers."""
    dropout: float = 0.0
    """Dropout rate of the inputs and of the hidden layers."""
    settings: Settings = replace(
        NodeRecipe.settings, epochs=200, learning_rate=0.01, weight_decay=5e-4
    )

    def data(self, folder: Path | None) -> GraphSplits:
        return karate.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return GCN(summary.inputs, self.hidden, summary.outputs, self.dropout)

    def measure(self, predictions: Predictions, split: str, task: Task) -> dict[str, float]:
        found = super().measure(predictions, split, task)
        size = len(getattr(predictions.data, split).x)
        return found | {"mistakes": float(round(found["error"] * size))}

    def figures(self, predictions: Predictions) -> "dict[str, Figure]":
        from chainrule.plots.graphs import node_predictions

        data, predicted = predictions.data, predicted_classes(predictions)
        edges, names = (
            data.graph.edge_index.T.numpy(),
            [str(m) for m in range(data.graph.num_nodes)],
        )
        club = node_predictions(
            edges, data.labels.numpy(), predicted.numpy(), data.classes, data.train.x.numpy(), names
        )
        return super().figures(predictions) | {"graph": club}

"""The karate club falls apart: who goes with whom, from two labels and the friendships.

    Y = softmax(Ā (Ā X W_0)₊ W_1),   X = I

The network knows where the two leaders went and who met whom. Zachary (1977); Kipf and Welling
(2017). Notes: J 7.4.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import nn

from chainrule.data.datasets import karate
from chainrule.data.graph_splits import GraphSplits
from chainrule.models.geometric.gcn import GCN
from chainrule.recipes.families.node_classification import NodeRecipe, placed
from chainrule.runs.recipe import SPLITS, Figures, Task
from chainrule.training import outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """34 members → 16 hidden units → 2 clubs, 594 parameters."""

    notes: ClassVar[str] = "J 7.4"

    hidden: tuple[int, ...] = (16,)
    """Widths of the hidden layers."""
    dropout: float = 0.0
    """Share of inputs and of hidden units dropped in each step."""
    epochs: int = 200
    learning_rate: float = 0.01
    weight_decay: float = 5e-4

    def data(self, folder: Path | None) -> GraphSplits:
        return karate.load(folder, self.seed)

    def model(self, task: Task) -> nn.Module:
        return GCN(task.inputs, self.hidden, task.outputs, self.dropout)

    def measure(self, model: nn.Module, data: GraphSplits) -> Figures:
        found = super().measure(model, data)
        sizes = {name: len(getattr(data, name).x) for name in SPLITS}
        return {
            name: figures | {"mistakes": float(round(figures["error"] * sizes[name]))}
            for name, figures in found.items()
        }

    def pictures(self, model: nn.Module, data: GraphSplits) -> "dict[str, Figure]":
        from chainrule.plots.graphs import node_predictions

        predicted = outputs(placed(model, data), (torch.arange(data.graph.nodes),)).argmax(1)
        edges, names = data.graph.edge_index.T.numpy(), [str(m) for m in range(data.graph.nodes)]
        club = node_predictions(
            edges, data.labels.numpy(), predicted.numpy(), data.classes, data.train.x.numpy(), names
        )
        return super().pictures(model, data) | {"graph": club}

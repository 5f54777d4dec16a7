"""Topics of Citeseer's papers by a graph convolutional network.

    Y = softmax(Ā (Ā X W_0)₊ W_1)

120 of 3,327 papers are labeled. The settings are the paper's, with two differences: weight decay
applies to both layers, not only the first, and dropout to the entries of Ā X, not of X.
Kipf and Welling (2017), ICLR. Notes: J 7.4.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import citeseer
from chainrule.data.graph_splits import GraphSplits
from chainrule.models.geometric.gcn import GCN
from chainrule.recipes.families.node_classification import NodeRecipe
from chainrule.runs.recipe import DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """3,703 words → 16 hidden units → 6 fields, 59,366 parameters."""

    reference: ClassVar[str] = "J 7.4"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.703, "Kipf and Welling 2017"),
    )

    hidden: tuple[int, ...] = (16,)
    """Widths of the hidden layers."""
    dropout: float = 0.5
    """Dropout rate of the inputs and of the hidden layers."""
    settings: Settings = replace(
        NodeRecipe.settings, epochs=200, learning_rate=0.01, weight_decay=5e-4, patience=10
    )

    def data(self, folder: Path | None) -> GraphSplits:
        return citeseer.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return GCN(summary.inputs, self.hidden, summary.outputs, self.dropout)

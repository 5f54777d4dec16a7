"""Topics of Cora's papers by a graph attention network.

    h_m = φ(Σ_n q_mn V x_n),    q_mn = softmax_n ρ(uᵀ [V x_m, V x_n])

140 of 2,708 papers are labeled. The settings are the paper's except for the stopping rule: all
epochs are trained and the weights of the best validation accuracy are kept; the paper stops after
100 epochs without improvement of loss or accuracy. Veličković et al. (2018), ICLR. Notes: J 7.4.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cora
from chainrule.data.graph_splits import GraphSplits
from chainrule.models.geometric.gat import GAT
from chainrule.recipes.families.node_classification import NodeRecipe
from chainrule.runs.recipe import DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """1,433 words → 8 heads of 8 units → 7 fields, 92,373 parameters."""

    reference: ClassVar[str] = "J 7.4"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.83, "Veličković et al. 2018"),
    )

    hidden: tuple[int, ...] = (8,)
    """Units of each head, for every hidden layer."""
    heads: tuple[int, ...] = (8, 1)
    """Attention heads of each layer."""
    dropout: float = 0.6
    """Dropout rate of the inputs, the attention weights and the attended features."""
    settings: Settings = replace(
        NodeRecipe.settings,
        epochs=1000,
        learning_rate=0.005,
        weight_decay=5e-4,
        patience=1000,
        monitor="accuracy",
    )

    def data(self, folder: Path | None) -> GraphSplits:
        return cora.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return GAT(summary.inputs, self.hidden, summary.outputs, self.heads, self.dropout)

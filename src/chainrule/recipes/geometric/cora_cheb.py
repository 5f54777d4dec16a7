"""Topics of Cora's papers by Chebyshev filters of the Laplacian.

    h = Σ_{k<3} T_k(L̃) X W_k + b

The settings of `cora-gcn`, whose propagation matrix simplifies the filter of two terms.
Defferrard, Bresson and Vandergheynst (2016), NeurIPS; the published accuracy is that of Kipf and
Welling (2017), K = 2 in their notation. Notes: J 7.5.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cora
from chainrule.data.graph_splits import GraphSplits
from chainrule.models.geometric.chebyshev import ChebNet
from chainrule.recipes.families.node_classification import NodeRecipe
from chainrule.runs.recipe import DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(NodeRecipe):
    """1,433 words → 16 hidden units → 7 fields, three terms each, 69,143 parameters."""

    reference: ClassVar[str] = "J 7.5"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.812, "Kipf and Welling 2017, K = 2"),
    )

    hidden: tuple[int, ...] = (16,)
    """Widths of the hidden layers."""
    terms: int = 3
    """Chebyshev polynomials of a filter, which reaches one hop less."""
    dropout: float = 0.5
    """Dropout rate of the inputs and of the hidden layers."""
    settings: Settings = replace(
        NodeRecipe.settings, epochs=200, learning_rate=0.01, weight_decay=5e-4, patience=10
    )

    def data(self, folder: Path | None) -> GraphSplits:
        return cora.load(folder, self.seed)

    def model(self, summary: DataSummary) -> nn.Module:
        return ChebNet(summary.inputs, self.hidden, summary.outputs, self.terms, self.dropout)

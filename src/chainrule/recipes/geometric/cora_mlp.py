"""Topics of Cora's papers from their words alone: `cora-gcn` without the citations.

The same widths and settings without the graph: the difference is the value of the citations. The
published accuracy is that of Yang, Cohen and Salakhutdinov (2016) as cited by Kipf and Welling
(2017). Notes: J 7.4.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import nn

from chainrule.data.datasets import cora
from chainrule.data.graph_splits import node_features
from chainrule.data.splits import Splits
from chainrule.models.feedforward.mlp import MLP
from chainrule.runs.recipe import BaseRecipe, DataSummary, Published
from chainrule.training import Settings


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """1,433 words → 16 hidden units → 7 fields, 23,063 parameters."""

    reference: ClassVar[str] = "J 7.4"
    published: ClassVar[tuple[Published, ...]] = (
        Published("test accuracy", 0.551, "Kipf and Welling 2017"),
    )

    hidden: tuple[int, ...] = (16,)
    """Widths of the hidden layers."""
    dropout: float = 0.5
    """Dropout rate of the hidden layers."""
    settings: Settings = Settings(
        epochs=200, batch_size=140, learning_rate=0.01, weight_decay=5e-4, patience=10
    )

    def data(self, folder: Path | None) -> Splits:
        return node_features(cora.load(folder, self.seed))

    def model(self, summary: DataSummary) -> nn.Module:
        init = "xavier-uniform"
        return MLP(
            summary.inputs, self.hidden, summary.outputs, dropout=self.dropout, initialization=init
        )

"""Links of your own graph: which two nodes have an edge, from the others and from their columns.

    chainrule train links --edges edges.csv --nodes nodes.csv
    chainrule predict RUN pairs.csv

A network gives every node a vector from nine tenths of the edges; two nodes are joined if their
vectors point the same way. Training draws new pairs without an edge at every step. The baseline is
the count of common neighbors, rare ones counting more (Adamic and Adar 2003).
Kipf and Welling (2016). Notes: J 7.4.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.data.readers.graphs.link_table import link_table
from chainrule.graphs import to_scipy
from chainrule.learning.augmentation import Augment
from chainrule.models.geometric.gat import GAT
from chainrule.models.geometric.gcn import GCN
from chainrule.nn.on_pairs import OnPairs
from chainrule.recipes.families.class_reports import class_report, with_class_metrics
from chainrule.recipes.families.node_classification import ALL, ONE_GRAPH
from chainrule.runs.recipe import SPLITS, BaseRecipe, DataSummary, Metrics, Predictions
from chainrule.training import Settings

HEADS = 4


@dataclass(frozen=True, kw_only=True)
class Recipe(BaseRecipe):
    """The columns of the nodes → hidden layers along the edges → vectors whose products score."""

    reference: ClassVar[str] = "J 7.4"
    unsupported: ClassVar[Mapping[str, str]] = ONE_GRAPH
    data_fields: ClassVar[tuple[str, ...]] = ("edges", "nodes", "ignore", "weight")

    edges: str
    """Table of the edges, with a header: the ids of both ends, and maybe more."""
    nodes: str
    """Table of the nodes, with a header: an id and columns."""
    ignore: tuple[str, ...] = ()
    """Columns of the nodes to ignore."""
    weight: str = ""
    """Column of the edges with their weights, of at least 0."""
    model_name: Literal["gcn", "gat"] = "gcn"
    """A graph convolution, or attention along the edges."""
    hidden_size: int = 64
    """Width of the hidden layer."""
    size: int = 32
    """Length of a node's vector."""
    dropout: float = 0.2
    """Dropout rate of the inputs and of the hidden layer."""
    settings: Settings = Settings(
        batch_size=ALL, epochs=300, learning_rate=0.01, patience=50, weight_decay=1e-5
    )

    def __post_init__(self) -> None:
        for name in ("edges", "nodes"):  # the run must be able to find them from any folder
            object.__setattr__(self, name, str(Path(getattr(self, name)).resolve()))

    def data(self, folder: Path | None) -> GraphSplits:
        return link_table(self.edges, self.nodes, self.seed, self.ignore, self.weight)

    def summarize(self, data: GraphSplits) -> DataSummary:
        return replace(super().summarize(data), shape=(data.graph.x.shape[1],))

    def model(self, summary: DataSummary) -> nn.Module:
        graph = self.data(None).graph
        if self.model_name == "gcn":
            network: nn.Module = GCN(
                summary.inputs, (self.hidden_size,), self.size, dropout=self.dropout
            )
        else:
            width = max(1, self.hidden_size // HEADS)
            network = GAT(summary.inputs, (width,), self.size, (HEADS, 1), dropout=self.dropout)
        return OnPairs(network, graph)

    def augmentation(self) -> Augment:
        def drawn(x: Tensor) -> Tensor:
            """Another second node for every pair without an edge."""
            other = (torch.rand(len(x), device=x.device) * x[:, 2]).long()
            second = torch.where(x[:, 2] > 0, other, x[:, 1])
            return torch.stack([x[:, 0], second, x[:, 2]], 1)

        return drawn

    def evaluate(self, predictions: Predictions) -> Metrics:
        return with_class_metrics(predictions, super().evaluate(predictions))

    def texts(self, predictions: Predictions) -> dict[str, str]:
        return class_report(predictions)

    def baselines(self, data: GraphSplits) -> dict[str, Metrics]:
        """The common neighbors of a pair, each by 1 / log of its degree."""
        from sklearn.metrics import average_precision_score, roc_auc_score

        A = (to_scipy(data.graph) > 0).astype(float)
        degree = np.asarray(A.sum(1)).ravel()
        rarity = np.where(degree > 1, 1 / np.log(np.maximum(degree, 2)), 0.0)
        scores = (A.multiply(rarity[None, :]) @ A.T).tocsr()
        found: dict[str, dict[str, float]] = {}
        for split in SPLITS:
            x, y = (part.numpy() for part in getattr(data, split))
            s: Any = np.asarray(scores[x[:, 0], x[:, 1]]).ravel()
            found[split] = {
                "auc": float(roc_auc_score(y, s)),
                "average_precision": float(average_precision_score(y, s)),
            }
        del found["train"]  # an edge of the graph says nothing about how others are found
        return {"common neighbors": found}

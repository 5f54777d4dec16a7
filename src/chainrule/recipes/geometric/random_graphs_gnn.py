"""Which law drew a random network: whole graphs classified by message passing with a read-out.

    f(G) = W_2 (W_1 [Σ_m h_m^1, …, Σ_m h_m^L] + b_1)₊ + b_2

All graphs have the same feature at every node and the same mean degree, so their shape alone tells.
The Weisfeiler-Leman kernel, which bounds what messages can see, stands beside it.
Xu et al. (2019), ICLR; Shervashidze et al. (2011), JMLR 12. Notes: J 7.4.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from torch import nn

from chainrule.data.datasets import random_graphs
from chainrule.data.graph_splits import GraphSplits
from chainrule.models.geometric.graph_classifier import GraphClassifier
from chainrule.models.geometric.weisfeiler_leman import WeisfeilerLeman
from chainrule.nn.on_graph import OnGraphs
from chainrule.runs.recipe import Experiment, Facts, Figures, Task, arrays, measure, objective_of
from chainrule.training import Progress, Settings, fit, outputs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROUNDS = (1, 2, 3)
RIDGES = (0.01, 0.1, 1.0)


@dataclass(frozen=True, kw_only=True)
class Recipe(Settings, Experiment[nn.Module, GraphSplits]):
    """Three layers of 32 units, each read out by a sum, then 32 hidden units → 4 laws."""

    notes: ClassVar[str] = "J 7.4"

    width: int = 32
    """Units of every layer."""
    layers: int = 3
    """Rounds of messages."""
    aggregation: str = "sum"
    """How a node gathers messages: sum, mean or max."""
    readout: str = "mean"
    """How a graph gathers its nodes: sum, mean or max."""
    epochs: int = 60
    batch_size: int = 64
    schedule: str = "one-cycle"
    learning_rate: float = 5e-3
    weight_decay: float = 1e-4

    def data(self, folder: Path | None) -> GraphSplits:
        return random_graphs.load(folder, self.seed)

    def facts(self, data: GraphSplits) -> Facts:
        facts = super().facts(data)
        task = Task((data.graph.x.shape[1],), data.classes)
        return Facts(task, facts.examples, data.notes)

    def model(self, task: Task) -> nn.Module:
        return GraphClassifier(
            task.inputs, self.width, task.outputs, self.layers, self.aggregation, self.readout
        )

    def learn(
        self, model: nn.Module, data: GraphSplits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        train, validation = arrays(data.train), arrays(data.validation)
        placed = OnGraphs(model, data.graph)
        return fit(placed, train, validation, self, objective_of(data), folder, device)

    def measure(self, model: nn.Module, data: GraphSplits) -> Figures:
        return measure(OnGraphs(model, data.graph), data)

    def compare(self, data: GraphSplits) -> dict[str, Figures]:
        """The kernel whose rounds and ridge are best on the validation graphs."""
        best: tuple[float, Figures] = (-1.0, {})
        for rounds in ROUNDS:
            model = WeisfeilerLeman(data.graph, len(data.classes), rounds)
            for ridge in RIDGES:
                model.fit(*data.train, ridge)
                found = measure(model, data)
                best = max(best, (found["validation"]["accuracy"], found), key=lambda pair: pair[0])
        return {"Weisfeiler-Leman kernel": best[1]}

    def pictures(self, model: nn.Module, data: GraphSplits) -> "dict[str, Figure]":
        from chainrule.plots.predictions import confusion_matrix
        from chainrule.runs.pictures import counts

        x, y = data.test
        predicted = outputs(OnGraphs(model, data.graph), (x,)).argmax(1)
        wrong = f"test: {int((predicted != y).sum())} of {len(y)} wrong"
        found = counts(y, predicted, len(data.classes))
        return {"confusion": confusion_matrix(found, data.classes, wrong)}

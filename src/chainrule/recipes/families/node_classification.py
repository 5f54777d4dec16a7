"""What recipes on the nodes of one graph share: an example is the number of a node.

    minimize  mean cross-entropy of f(X, A)_m over the training nodes m

Every step computes the whole graph and looks at the outputs of the training nodes; early stopping
looks at the validation nodes only. The network itself knows nothing of the graph, and is what a run
keeps. Kipf and Welling (2017). Notes: J 7.4.
"""

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torch import nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.nn.on_graph import OnGraph
from chainrule.runs.recipe import (
    SPLITS,
    Experiment,
    Facts,
    Figures,
    Task,
    arrays,
    measure,
    objective_of,
)
from chainrule.training import Progress, Settings, fit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = 2**20  # nodes in a step: every step computes the whole graph, so it may use all of them


@dataclass(frozen=True, kw_only=True)
class NodeRecipe(Settings, Experiment[nn.Module, GraphSplits]):
    """A recipe whose examples are nodes of a graph that is known from the start."""

    batch_size: int = ALL

    def facts(self, data: GraphSplits) -> Facts:
        examples = {name: len(getattr(data, name).x) for name in SPLITS}
        task = Task((data.graph.x.shape[1],), data.classes)
        return Facts(task, examples, data.notes, data.encoder)

    def learn(
        self, model: nn.Module, data: GraphSplits, folder: Path | None, device: str
    ) -> Generator[Progress]:
        train, validation = arrays(data.train), arrays(data.validation)
        return fit(placed(model, data), train, validation, self, objective_of(data), folder, device)

    def measure(self, model: nn.Module, data: GraphSplits) -> Figures:
        return measure(placed(model, data), data)

    def pictures(self, model: nn.Module, data: GraphSplits) -> "dict[str, Figure]":
        from chainrule.recipes.families.node_pictures import pictures  # drawing is slow to import

        return pictures(placed(model, data), data)


def placed(model: nn.Module, data: GraphSplits) -> OnGraph:
    """The network on the graph of the data, unless it has its own."""
    return model if isinstance(model, OnGraph) else OnGraph(model, data.graph)

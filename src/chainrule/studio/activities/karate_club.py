"""The karate club learned live: a few labels, all friendships.

minimize  mean cross-entropy over the labeled members
shown     softmax f(X, A)_m of every member, and the last hidden layer in two dimensions
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import torch
from torch import Tensor, nn

from chainrule.data.datasets import karate
from chainrule.data.graph_splits import GraphSplits
from chainrule.data.splits import Split
from chainrule.models.geometric import GAT, GCN, ChebNet
from chainrule.nn.on_graph import OnGraph
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.drawn_graphs import built_in, page
from chainrule.training import iterate

HEADS = 2
MODELS: dict[str, Callable[[int, int, float], nn.Module]] = {
    "gcn": lambda n, width, dropout: GCN(n, [width], 2, dropout),
    "gat": lambda n, width, dropout: GAT(n, [width], 2, (HEADS, 1), dropout),
    "chebyshev": lambda n, width, dropout: ChebNet(n, [width], 2, 3, dropout),
}


@dataclass(frozen=True)
class Settings:
    """The network and its training.

    Args:
        model: which network.
        width: units of the hidden layer (of each head, for attention).
        labels: labeled members of each side; the leaders are the first.
        rate: step size of Adam.
        decay: of the weights.
        dropout: probability.
        burst: updates between two views.
        epochs: updates in all.
        seed: of the weights and of the choice of labeled members.
    """

    model: Literal["gcn", "gat", "chebyshev"] = "gcn"
    width: Annotated[int, Range(2, 64)] = 16
    labels: Annotated[int, Range(1, 8)] = 1
    rate: Annotated[float, Range(1e-4, 1)] = 0.01
    decay: Annotated[float, Range(0, 1)] = 5e-4
    dropout: Annotated[float, Range(0, 0.9)] = 0.0
    burst: Annotated[int, Range(1, 20)] = 1
    epochs: Annotated[int, Range(1, 2000)] = 300
    seed: Annotated[int, Range(0, 2**31)] = 0


def run(settings: Json) -> Activity:
    chosen = read(Settings, settings)
    data = karate.load(seed=chosen.seed)
    labeled = labeled_members(data, chosen)
    torch.manual_seed(chosen.seed)
    network = MODELS[chosen.model](data.graph.x.shape[1], chosen.width, chosen.dropout)
    lesson = Lesson(OnGraph(network, data.graph), data, labeled)
    lesson.measure()
    yield View(lesson.draw, waiting=True)
    progress = iterate(
        lesson.model,
        Split(labeled, data.labels[labeled]),
        epochs=chosen.epochs,
        learning_rate=chosen.rate,
        weight_decay=chosen.decay,
        seed=chosen.seed,
    )
    for now in progress:
        if now.record is not None:
            lesson.measure()
            if now.epoch % chosen.burst == 0:
                yield View(lesson.draw, waiting=True)


def labeled_members(data: GraphSplits, chosen: Settings) -> Tensor:
    """The leaders, then others of each side at random."""
    order = torch.randperm(
        len(data.labels), generator=torch.Generator().manual_seed(chosen.seed)
    ).tolist()
    found: list[int] = []
    for side, leader in enumerate(karate.LEADERS):
        others = [m for m in order if data.labels[m] == side and m != leader]
        found += [leader, *others[: chosen.labels - 1]]
    return torch.tensor(found)


class Lesson:
    """A network, what it says of every member, and how that developed.

    Args:
        model: the network on the graph.
        data: the club.
        labeled: the members whose side is known.
    """

    def __init__(self, model: OnGraph, data: GraphSplits, labeled: Tensor):
        self.model, self.data, self.labeled = model, data, labeled
        self.hidden = ~torch.isin(torch.arange(len(data.labels)), labeled)
        self.losses: list[float] = []
        self.accuracies: list[float] = []
        self.axes = np.zeros((0, 2))
        self.drawing = page(built_in("karate club"))

    @torch.no_grad()
    def measure(self) -> None:
        """Loss on the labeled members, accuracy on all others, without dropout."""
        trained = self.model.training
        *_, self.embedding, logits = self.model.eval().layer_outputs()
        self.model.train(trained)
        y, rows = self.data.labels, self.labeled
        self.probability = logits.softmax(1)
        self.losses.append(nn.functional.cross_entropy(logits[rows], y[rows]).item())
        right = (logits.argmax(1) == y)[self.hidden]
        self.accuracies.append(right.float().mean().item())

    def draw(self) -> Json:
        return self.drawing | {
            "classes": list(self.data.classes),
            "truth": self.data.labels.tolist(),
            "labeled": self.labeled.tolist(),
            "probability": rounded(self.probability[:, 1], 3),
            "embedding": rounded(self.projected(), 3),
            "losses": rounded(self.losses),
            "accuracies": rounded(self.accuracies),
        }

    def projected(self) -> np.ndarray:
        """The last hidden layer on its two principal axes, which keep their direction."""
        centered = (self.embedding - self.embedding.mean(0)).double().numpy()
        axes = np.linalg.svd(centered, full_matrices=False)[2][:2].T
        if len(self.axes):
            flipped = (axes * self.axes).sum(0) < 0
            axes = np.where(flipped, -axes, axes)
        self.axes = axes
        return centered @ axes

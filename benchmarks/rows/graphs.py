"""Graph networks on a graph of Cora's size, 50 epochs of training and validation, beside PyG."""

import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.suite.contract import Contender, Quality, Race, Ready
from benchmarks.suite.tuning import tuned

WORDS, CLASSES, LABELED, HELD = 18, 7, 20, 500  # words of a paper; labeled nodes of each class


def splits(nodes: int, edges: int, features: int) -> Any:
    """Nodes link to their own class four times out of five, and share words with it."""
    from chainrule.data.graph_splits import graph_splits
    from chainrule.graphs import Graph

    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(nodes) % CLASSES
    source = torch.randint(nodes, (edges // 2,), generator=generator)
    hop = torch.randint(nodes // CLASSES, (edges // 2,), generator=generator) * CLASSES
    other = torch.randint(CLASSES, (edges // 2,), generator=generator)
    stray = torch.rand(edges // 2, generator=generator) < 0.2
    target = (source + hop + torch.where(stray, other, 0)) % (nodes - nodes % CLASSES)
    words = torch.randint(features, (nodes, WORDS), generator=generator)
    words[:, : WORDS // 3] = words[:, : WORDS // 3] // CLASSES * CLASSES + labels[:, None]
    x = torch.zeros(nodes, features).scatter_(1, words.clamp(max=features - 1), 1.0)
    index = torch.stack([torch.cat([source, target]), torch.cat([target, source])])
    parts = torch.arange(nodes).split(
        [LABELED * CLASSES, HELD, nodes - LABELED * CLASSES - HELD]
        if nodes > LABELED * CLASSES + HELD
        else [nodes // 3, nodes // 3, nodes - 2 * (nodes // 3)]
    )
    names = tuple(map(str, range(CLASSES)))
    return graph_splits(Graph(x / WORDS, index), labels, parts, names)  # type: ignore[arg-type]


def recipe(kind: str, epochs: int) -> Any:
    from chainrule.recipes.geometric import cora_cheb, cora_gat, cora_gcn

    modules = {"GCN": cora_gcn, "GAT": cora_gat, "Chebyshev": cora_cheb}
    return modules[kind].Recipe.configured(epochs=epochs, patience=0)


def engine(kind: str, epochs: int, **sizes: int) -> Ready:
    """The recipe of the library."""
    from chainrule.runs.configuration import Configuration
    from chainrule.runs.run import build

    data, chosen = splits(**sizes), recipe(kind, epochs)

    def trained() -> nn.Module:
        model = build(Configuration(chosen), chosen.summarize(data))
        for _ in chosen.fit(model, data, None, "cpu"):
            pass
        return model

    def quality(seed: int) -> float:
        from chainrule.nn.on_graph import OnGraph

        torch.manual_seed(seed)
        model = trained()
        on = model if isinstance(model, OnGraph) else OnGraph(model, data.graph)
        with torch.no_grad():
            return error(on.eval()(data.test.x), data)

    return Ready(lambda: trained() is None, quality)


def error(output: Tensor, data: Any) -> float:
    return (output.argmax(1) != data.test.y).double().mean().item()


class PyG(nn.Module):
    """Two layers as PyG's examples write them."""

    def __init__(self, kind: str, chosen: Any, inputs: int):
        super().__init__()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its import uses what torch has deprecated
            from torch_geometric import nn as layers
        (width,), self.rate = chosen.hidden, chosen.dropout
        self.activation: Callable[[Tensor], Tensor] = F.elu if kind == "GAT" else F.relu
        if kind == "GCN":
            self.first = layers.GCNConv(inputs, width, cached=True)
            self.last = layers.GCNConv(width, CLASSES, cached=True)
        elif kind == "GAT":
            heads, last = chosen.heads
            self.first = layers.GATConv(inputs, width, heads, dropout=self.rate)
            self.last = layers.GATConv(
                heads * width, CLASSES, last, concat=False, dropout=self.rate
            )
        else:
            self.first = layers.ChebConv(inputs, width, chosen.terms)
            self.last = layers.ChebConv(width, CLASSES, chosen.terms)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        h = self.activation(self.first(F.dropout(x, self.rate, self.training), edges))
        return self.last(F.dropout(h, self.rate, self.training), edges)


def pyg(kind: str, epochs: int, **sizes: int) -> Ready:
    """A plain loop with fused Adam around PyG's layers, dense features."""
    tuned()
    data, chosen = splits(**sizes), recipe(kind, epochs)
    x, edges, settings = data.graph.x, data.graph.edge_index, chosen.settings

    def trained(epochs: int = epochs) -> PyG:
        model = PyG(kind, chosen, x.shape[1])
        adam = torch.optim.Adam(
            model.parameters(),
            settings.learning_rate,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        for _ in range(epochs):
            model.train()
            adam.zero_grad(set_to_none=True)
            F.cross_entropy(model(x, edges)[data.train.x], data.train.y).backward()
            adam.step()
            model.eval()
            with torch.no_grad():
                output = model(x, edges)[data.validation.x]
                F.cross_entropy(output, data.validation.y).item()
                (output.argmax(1) == data.validation.y).float().mean().item()
        return model

    def quality(seed: int) -> float:
        torch.manual_seed(seed)
        with torch.no_grad():
            model = torch.enable_grad()(trained)()
            return error(model.eval()(x, edges)[data.test.x], data)

    def unit() -> float:
        """A fifth of the epochs, and the time multiplied: they are all alike."""
        few = max(1, epochs // 5)
        began = time.perf_counter()
        trained(few)
        return (time.perf_counter() - began) * epochs / few

    return Ready(unit, quality)


CORA = {"nodes": 2708, "edges": 10_556, "features": 1433}
ROW = Race(
    unit="50 epochs",
    contenders={
        "chainrule": Contender(engine),
        "PyG, hand-tuned loop": Contender(pyg, ("torch_geometric",)),
    },
    cases={kind: {"kind": kind, "epochs": 50, **CORA} for kind in ("GCN", "GAT", "Chebyshev")},
    tiny={"kind": "GCN", "epochs": 2, "nodes": 70, "edges": 200, "features": 49},
    quality=Quality("test error after 50 epochs, three seeds", 0.05, absolute=True, seeds=3),
)

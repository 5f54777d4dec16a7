"""Graph networks beside PyTorch Geometric: 200 epochs on Cora, and what an edge costs.

    GCN    1,433 → 16 → 7, the recipe cora-gcn        GAT    1,433 → 8 × 8 → 7, the recipe cora-gat

Every contestant trains on the 140 labeled nodes and looks at the 500 validation nodes after each
epoch. Ours is the engine with all it does; the others are plain PyTorch loops around PyG's layers,
as in PyG's own examples: dense features, the normalized adjacency cached, or, for the GCN, given as
a sparse CSR matrix. They take turns, and the best of several rounds counts.

The second table is the time of an epoch of the GCN by the number of edges, on random graphs of ten
directed edges to a node, 32 features, 16 hidden units and 8 classes, each size in a process of its
own, whose peak memory it states. Needs torch_geometric (in the extra peers) and Cora.

    python benchmarks/graphs.py
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from chainrule.data.graph_splits import GraphSplits
from chainrule.graphs import Graph
from chainrule.models.geometric.gcn import GCN
from chainrule.nn.on_graph import OnGraph
from chainrule.recipes.families.node_classification import NodeRecipe
from chainrule.recipes.geometric import cora_gat, cora_gcn
from chainrule.runs.configuration import Configuration
from chainrule.runs.run import build
from chainrule.training import Settings, iterate

EPOCHS = 200
EDGES = (10_000, 100_000, 1_000_000, 3_000_000, 10_000_000)
PER_NODE, FEATURES, HIDDEN, GROUPS = 10, 32, 16, 8
TIMED = 7  # epochs of each size; the quickest counts


def pyg_layers() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import uses what torch has deprecated
        import torch_geometric.nn
    return torch_geometric.nn


class PygGCN(nn.Module):
    """As PyG's examples write it."""

    def __init__(self, recipe: cora_gcn.Recipe, inputs: int, outputs: int, cached: bool):
        super().__init__()
        layer, (width,) = pyg_layers().GCNConv, recipe.hidden
        self.first = layer(inputs, width, cached=cached, normalize=cached)
        self.last = layer(width, outputs, cached=cached, normalize=cached)
        self.rate = recipe.dropout

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        h = self.first(F.dropout(x, self.rate, self.training), edges).relu()
        return self.last(F.dropout(h, self.rate, self.training), edges)


class PygGAT(nn.Module):
    """As PyG's examples write it."""

    def __init__(self, recipe: cora_gat.Recipe, inputs: int, outputs: int):
        super().__init__()
        layer, (width,), (heads, last) = pyg_layers().GATConv, recipe.hidden, recipe.heads
        rate = recipe.dropout
        self.first = layer(inputs, width, heads, dropout=rate)
        self.last = layer(heads * width, outputs, last, concat=False, dropout=rate)
        self.rate = rate

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        h = F.elu(self.first(F.dropout(x, self.rate, self.training), edges))
        return self.last(F.dropout(h, self.rate, self.training), edges)


def plain_loop(model: nn.Module, edges: Tensor, data: GraphSplits, recipe: NodeRecipe) -> float:
    """Seconds of all epochs: a step on the training nodes, then the validation nodes."""
    x = data.graph.x
    optimizer = torch.optim.Adam(
        model.parameters(), recipe.settings.learning_rate, weight_decay=recipe.settings.weight_decay
    )
    began = time.perf_counter()
    for _ in range(EPOCHS):
        model.train()
        optimizer.zero_grad()
        F.cross_entropy(model(x, edges)[data.train.x], data.train.y).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            output = model(x, edges)[data.validation.x]
            F.cross_entropy(output, data.validation.y).item()
            (output.argmax(1) == data.validation.y).float().mean().item()
    return time.perf_counter() - began


def ours(recipe: Any, data: GraphSplits) -> float:
    """The recipe as it is, for so many epochs."""
    model = build(Configuration(recipe), recipe.summarize(data))
    began = time.perf_counter()
    for _ in recipe.fit(model, data, None, "cpu"):
        pass
    return time.perf_counter() - began


def cached_gcn(recipe: cora_gcn.Recipe, data: GraphSplits) -> float:
    model = PygGCN(recipe, data.graph.x.shape[1], len(data.classes), cached=True)
    return plain_loop(model, data.graph.edge_index, data, recipe)


def csr_gcn(recipe: cora_gcn.Recipe, data: GraphSplits) -> float:
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    index, weight = gcn_norm(data.graph.edge_index, num_nodes=data.graph.num_nodes)
    model = PygGCN(recipe, data.graph.x.shape[1], len(data.classes), cached=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sparse CSR support is in beta state
        shape = (data.graph.num_nodes, data.graph.num_nodes)
        edges = torch.sparse_coo_tensor(index.flip(0), weight, shape).coalesce().to_sparse_csr()
        return plain_loop(model, edges, data, recipe)


def dense_gat(recipe: cora_gat.Recipe, data: GraphSplits) -> float:
    model = PygGAT(recipe, data.graph.x.shape[1], len(data.classes))
    return plain_loop(model, data.graph.edge_index, data, recipe)


Contestant = Callable[[Any, GraphSplits], float]
NETWORKS: dict[str, tuple[NodeRecipe, dict[str, Contestant]]] = {
    "GCN": (
        cora_gcn.Recipe.configured(epochs=EPOCHS, patience=0),
        {"chainrule": ours, "PyG, cached": cached_gcn, "PyG, sparse CSR": csr_gcn},
    ),
    "GAT": (
        cora_gat.Recipe.configured(epochs=EPOCHS, patience=0),
        {"chainrule": ours, "PyG": dense_gat},
    ),
}


def race(name: str, rounds: int) -> dict[str, Any]:
    """Seconds of every contestant, the best round of each, and its ratio to ours."""
    recipe, contestants = NETWORKS[name]
    data = recipe.data(None)
    best = dict.fromkeys(contestants, float("inf"))
    for number in range(rounds):
        for who, contestant in contestants.items():
            torch.manual_seed(number)
            took = contestant(replace(recipe, seed=number), data)
            best[who] = min(best[who], took)
            print(f"{name}, round {number}  {who:<20}{took:8.2f} s", file=sys.stderr)
    rows = [
        {
            "name": who,
            "seconds": round(seconds, 2),
            "epoch_ms": round(1000 * seconds / EPOCHS, 2),
            "ratio": round(seconds / best["chainrule"], 2),
        }
        for who, seconds in sorted(best.items(), key=lambda pair: pair[1])
    ]
    for row in rows:
        print(f"{name}: {row['name']:<20}{row['seconds']:8.2f} s{row['ratio']:7.2f} ×")
    return {"name": f"{name} on Cora", "epochs": EPOCHS, "rows": rows}


def one_size(edges: int) -> dict[str, float]:
    """An epoch of the GCN on a random graph of so many directed edges, and the peak memory."""
    nodes = edges // PER_NODE
    torch.manual_seed(0)
    graph = Graph(torch.randn(nodes, FEATURES), torch.randint(nodes, (2, edges)))
    began = time.perf_counter()
    model = OnGraph(GCN(FEATURES, [HIDDEN], GROUPS), graph)
    prepared = time.perf_counter() - began
    x, y = torch.arange(nodes), torch.randint(GROUPS, (nodes,))
    settings = Settings(epochs=TIMED, batch_size=nodes, learning_rate=0.01)
    took = [
        now.record["seconds"]
        for now in iterate(model, (x, y), settings=settings, device="cpu")
        if now.record
    ]
    return {
        "edges": edges,
        "nodes": nodes,
        "epoch_ms": round(1000 * min(took), 2),
        "ns_per_edge": round(1e9 * min(took) / edges, 1),
        "prepared_seconds": round(prepared, 3),
        "peak_mb": peak_megabytes(),
    }


def peak_megabytes() -> int:
    """The most memory that this process has held; what getrusage says outlives an exec."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)


def by_edges() -> list[dict[str, float]]:
    """One process for each size, so that its peak memory is its own."""
    rows = []
    for edges in EDGES:
        command = [sys.executable, __file__, "--edges", str(edges)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(done.stdout))
        print("{edges:>10} edges {epoch_ms:10.2f} ms an epoch, {peak_mb} MB".format(**rows[-1]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--edges", type=int, help="time this size alone and print it")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/speed/graphs.json"))
    options = parser.parse_args()
    if options.edges:
        print(json.dumps(one_size(options.edges)))
        return
    result = {
        "benchmark": "200 epochs on Cora with validation after each; an epoch of a GCN by edges",
        "command": "python benchmarks/graphs.py",
        "date": str(date.today()),
        "rounds": options.rounds,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "torch_geometric": __import__("torch_geometric").__version__,
        "networks": [race(name, options.rounds) for name in NETWORKS],
        "edges": by_edges(),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""Message passing on a graph, hop by hop, and over-smoothing by depth.

    H_{l+1} = Ā H_l,  or the sum, mean, maximum or attention over each node and its neighbors
    d(H_l) = ‖H_l - u uᵀ H_l‖ ≤ λ₂^l d(X),  u ∝ D̄^{1/2} 1                     over-smoothing

The signal is a 1 at one node. What it reaches is measured: whose value changes with that node's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import networkx
import torch
from torch import Tensor

from chainrule.errors import InputError
from chainrule.graphs import Graph, from_networkx
from chainrule.lab.geometric.over_smoothing import WIDTH, distances, weigh
from chainrule.models.geometric.gat import GATConv
from chainrule.models.geometric.gcn import GCN
from chainrule.models.geometric.message_passing import AGGREGATIONS, aggregate
from chainrule.nn.laplacian import normalized_adjacency
from chainrule.studio.activity import Activity, Json, Range, View, read, rounded
from chainrule.studio.drawn_graphs import MOST_NODES, Pair, Position, built_in, drawn, page

Hop = Callable[[Tensor], Tensor]
SHARPNESS = 4.0  # of the attention: how much a node prefers large neighbors
SMALLEST = 1e-4  # a smaller distance from smooth is not shown


@dataclass(frozen=True)
class Settings:
    """The graph, the signal and how it spreads.

    Args:
        graph: a built-in one, or drawn.
        nodes: positions of a drawn graph.
        edges: of a drawn graph.
        propagation: what a node takes from its neighbors and itself.
        signal: 1 at the source and 0 elsewhere, or random.
        source: the node whose signal is followed.
        hops: how many.
        seed: of the random graph, signal and weights.
    """

    graph: Literal[
        "ring",
        "path",
        "grid",
        "star",
        "karate club",
        "two triangles",
        "barbell",
        "random",
        "drawn",
    ] = "karate club"
    nodes: Annotated[tuple[Position, ...], Range(0, MOST_NODES)] = ()
    edges: Annotated[tuple[Pair, ...], Range(0, MOST_NODES**2)] = ()
    propagation: Literal["gcn", "mean", "sum", "max", "attention"] = "gcn"
    signal: Literal["impulse", "random"] = "impulse"
    source: Annotated[int, Range(0, MOST_NODES)] = 0
    hops: Annotated[int, Range(1, 60)] = 30
    seed: Annotated[int, Range(0, 2**31)] = 0


def run(settings: Json) -> Activity:
    """Each message is a new set of settings."""
    while True:
        content = measured(read(Settings, settings))
        settings = (yield View(content.copy, waiting=True)) or settings


@torch.no_grad()
def measured(chosen: Settings) -> Json:
    """The signal after every hop, what it has reached, and how alike the nodes have become."""
    if chosen.graph == "drawn":
        known = drawn(chosen.nodes, chosen.edges)
    else:
        known = built_in(chosen.graph, chosen.seed)
    if chosen.source >= len(known):
        raise InputError(f"`source` must be a node from 0 to {len(known) - 1}")
    x = torch.zeros(len(known), 1, dtype=torch.float64)
    if chosen.signal == "random":
        x = torch.rand(x.shape, generator=generator(chosen), dtype=torch.float64)
    else:
        x[chosen.source] = 1
    graph = from_networkx(known, x)
    hop = propagation(chosen.propagation, graph)
    signals = repeated(hop, x, chosen.hops)
    changed = x.clone()
    changed[chosen.source] += 1
    differs = repeated(hop, changed, chosen.hops) != signals
    lengths = networkx.single_source_shortest_path_length(known, chosen.source)
    return page(known) | {
        "signals": rounded(signals),
        "reached": [first_hop(column) for column in differs.T],
        "distance": [lengths.get(node) for node in known],
        "smoothing": smoothing(graph, chosen),
    }


def generator(chosen: Settings) -> torch.Generator:
    return torch.Generator().manual_seed(chosen.seed)


def propagation(name: str, graph: Graph) -> Hop:
    """One hop: every node from its neighbors and itself."""
    if name == "gcn":
        A_bar = normalized_adjacency(graph)
        return lambda h: A_bar @ h
    if name in AGGREGATIONS:
        own = torch.arange(graph.num_nodes).expand(2, -1)
        source, target = torch.cat([graph.edge_index, own], 1)
        return lambda h: aggregate(h.index_select(0, source), target, graph.num_nodes, name)
    attention = GATConv(1, 1).double()
    for weight, value in ((attention.V.weight, 1.0), (attention.u_source, SHARPNESS)):
        weight.fill_(value)
    attention.u_target.zero_()
    return lambda h: attention(h, graph.edge_index)


def repeated(hop: Hop, x: Tensor, hops: int) -> Tensor:
    """(hops + 1, nodes): the signal and what becomes of it."""
    found = [x]
    for _ in range(hops):
        found.append(hop(found[-1]))
    return torch.cat(found, 1).T


def first_hop(differs: Tensor) -> int | None:
    """When a node first differs, or None for never."""
    return int(differs.nonzero()[0]) if differs.any() else None


def smoothing(graph: Graph, chosen: Settings) -> Json:
    """d(H_l) / d(X) of graph convolutions against λ₂^l, as in the claim `over-smoothing`."""
    A_bar = normalized_adjacency(graph).dense()
    u = A_bar.diagonal().rsqrt()  # ā_mm = 1 / d̄_m
    u = u / u.norm()
    values, U = torch.linalg.eigh(A_bar - torch.outer(u, u))
    second = values.abs().argmax()
    rate, u_2 = values[second].abs(), U[:, second]
    slowest = (u * (u_2.abs() / u).max() + u_2)[:, None].repeat(1, WIDTH)
    network = GCN(WIDTH, [WIDTH] * (chosen.hops - 1), WIDTH, dropout=0.0).double().eval()
    weigh(network, torch.eye(WIDTH).expand(chosen.hops, -1, -1))
    slow = distances(network, Graph(slowest, graph.edge_index), u)
    noise = torch.randn(chosen.hops, WIDTH, WIDTH, generator=generator(chosen)).double()
    weigh(network, torch.linalg.qr(noise)[0])
    start = torch.rand(slowest.shape, generator=generator(chosen)).double()
    quick = distances(network, Graph(start, graph.edge_index), u)
    predicted = rate ** torch.arange(1, chosen.hops + 1)
    return {"rate": rounded(rate)} | {
        name: [1.0, *rounded(torch.where(curve > SMALLEST, curve, torch.nan))]
        for name, curve in (("predicted", predicted), ("slowest", slow), ("random", quick))
    }

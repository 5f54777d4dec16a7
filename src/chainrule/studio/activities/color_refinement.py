"""Color refinement, the 1-WL test: round by round on two graphs.

c_{t+1}(m) = a new color for each pair (c_t(m), {{c_t(n) : n ~ m}})
G ≁ H    if some color occurs in one more often than in the other
"""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Literal

import networkx
import numpy as np
import torch

from chainrule.errors import InputError
from chainrule.graphs import from_networkx, union
from chainrule.lab.helpers.pairs import PAIRS
from chainrule.models.geometric.weisfeiler_leman import distinguishable, refine
from chainrule.registry import unknown
from chainrule.studio.activity import Activity, Json, Range, View, read
from chainrule.studio.drawn_graphs import MOST_NODES, Pair, Position, built_in, drawn, page, placed

RENUMBERED = "karate club, renumbered"


@dataclass(frozen=True)
class Settings:
    """Two graphs.

    Args:
        pair: names a pair of the claim `weisfeiler-leman-pairs`; drawn: those below.
        nodes: positions of the first drawn graph.
        edges: of the first drawn graph.
        other_nodes: positions of the second.
        other_edges: of the second.
        start: all nodes the same color, or colored by their degrees.
    """

    pair: Annotated[str, Range(1, 80)] = "decalin, bicyclopentyl"
    nodes: Annotated[tuple[Position, ...], Range(0, MOST_NODES)] = ()
    edges: Annotated[tuple[Pair, ...], Range(0, MOST_NODES**2)] = ()
    other_nodes: Annotated[tuple[Position, ...], Range(0, MOST_NODES)] = ()
    other_edges: Annotated[tuple[Pair, ...], Range(0, MOST_NODES**2)] = ()
    start: Literal["uniform", "degree"] = "uniform"


def run(settings: Json) -> Activity:
    """Each message is a new set of settings."""
    while True:
        content = refined(read(Settings, settings))
        settings = (yield View(content.copy, waiting=True)) or settings


def refined(chosen: Settings) -> Json:
    """The colors of every round, their counts in both graphs, and the verdict."""
    pair = two_graphs(chosen)
    known = [from_networkx(graph, start_colors(graph, chosen.start)) for graph in pair]
    split = len(pair[0])
    rounds = [renumbered(colors) for colors in refine(union(known))]
    return {
        "graphs": [page(graph) for graph in pair],
        "rounds": [[colors[:split].tolist(), colors[split:].tolist()] for colors in rounds],
        "counts": [counts(colors, split) for colors in rounds],
        "distinguished": distinguishable(*known),
        "isomorphic": networkx.is_isomorphic(*pair),
    }


def two_graphs(chosen: Settings) -> tuple[networkx.Graph, networkx.Graph]:
    """Both graphs, with a position for each node."""
    if chosen.pair == "drawn":
        one = drawn(chosen.nodes, chosen.edges)
        return one, drawn(chosen.other_nodes, chosen.other_edges)
    if chosen.pair == RENUMBERED:
        club = built_in("karate club")
        order = np.random.default_rng(0).permutation(len(club)).tolist()
        other = networkx.Graph()
        other.add_nodes_from((node, club.nodes[order.index(node)]) for node in range(len(club)))
        other.add_edges_from((order[a], order[b]) for a, b in club.edges)
        return club, other
    if chosen.pair not in PAIRS:
        raise InputError(unknown("pair", chosen.pair, [*PAIRS, RENUMBERED, "drawn"]))
    one, other = PAIRS[chosen.pair]
    return placed(one), placed(other)


def start_colors(graph: networkx.Graph, kind: str) -> torch.Tensor:
    """c_0: 0 for every node, or its degree."""
    degrees = torch.tensor([[float(d)] for _, d in graph.degree()]).reshape(-1, 1)
    return degrees if kind == "degree" else torch.zeros_like(degrees)


def renumbered(colors: np.ndarray) -> np.ndarray:
    """The most frequent color is number 0, so that few nodes change their number."""
    names, place, number = np.unique(colors, return_inverse=True, return_counts=True)
    order = np.argsort(-number, kind="stable")
    rank = np.empty(len(names), dtype=int)
    rank[order] = np.arange(len(names))
    return rank[place.reshape(-1)]


def counts(colors: np.ndarray, split: int) -> list[list[int]]:
    """How often each color occurs in the first and in the second graph."""
    one, other = Counter(colors[:split].tolist()), Counter(colors[split:].tolist())
    return [[one[color], other[color]] for color in range(int(colors.max()) + 1)]

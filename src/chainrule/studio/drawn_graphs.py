"""Graphs on the page: the built-in ones, what a user draws, and where their nodes are shown."""

from collections.abc import Callable

import networkx
import numpy as np
from numpy.typing import NDArray

from chainrule.errors import InputError

Position = tuple[float, ...]
Pair = tuple[int, ...]
MOST_NODES = 60

GRAPHS: dict[str, Callable[[int], networkx.Graph]] = {
    "ring": lambda seed: networkx.cycle_graph(16),
    "path": lambda seed: networkx.path_graph(10),
    "grid": lambda seed: networkx.grid_2d_graph(5, 7),
    "star": lambda seed: networkx.star_graph(10),
    "karate club": lambda seed: networkx.karate_club_graph(),
    "two triangles": lambda seed: networkx.disjoint_union(*2 * [networkx.cycle_graph(3)]),
    "barbell": lambda seed: networkx.barbell_graph(6, 2),
    "random": lambda seed: networkx.connected_watts_strogatz_graph(20, 4, 0.4, seed=seed),
}


def built_in(name: str, seed: int = 0) -> networkx.Graph:
    """The graph of that name, its nodes numbered, the position of each in its attribute."""
    return placed(GRAPHS[name](seed))


def drawn(nodes: tuple[Position, ...], edges: tuple[Pair, ...]) -> networkx.Graph:
    """The graph that a user drew.

    Args:
        nodes: the position of each, from 0 to 1.
        edges: pairs of node numbers.
    """
    if not nodes:
        raise InputError("a drawn graph needs at least one node")
    if any(len(place) != 2 or not all(0 <= c <= 1 for c in place) for place in nodes):
        raise InputError("`nodes` must hold positions [x, y] from 0 to 1")
    if any(len(pair) != 2 or not all(0 <= end < len(nodes) for end in pair) for pair in edges):
        raise InputError(f"`edges` must hold pairs of node numbers from 0 to {len(nodes) - 1}")
    found = networkx.Graph()
    found.add_nodes_from((number, {"at": place}) for number, place in enumerate(nodes))
    found.add_edges_from(pair for pair in edges if pair[0] != pair[1])
    return found


def placed(graph: networkx.Graph) -> networkx.Graph:
    """With numbered nodes and a position for each; connected parts lie side by side."""
    on_grid = all(isinstance(node, tuple) and len(node) == 2 for node in graph)
    if on_grid:
        at = np.array([(column, row) for row, column in graph], dtype=float)
    numbered = networkx.convert_node_labels_to_integers(graph)
    if not on_grid:
        at = side_by_side(numbered)
    low, size = at.min(0), max(float(np.ptp(at, axis=0).max()), 1e-9)
    margin = (1 - np.ptp(at, axis=0) / size) / 2
    for node, place in enumerate((at - low) / size + margin):
        numbered.nodes[node]["at"] = tuple(place.tolist())
    return numbered


def side_by_side(graph: networkx.Graph) -> NDArray[np.float64]:
    """A layout of each connected part by its distances, in rows of about equal length."""
    parts = sorted(networkx.connected_components(graph), key=len, reverse=True)
    columns, at = int(np.ceil(np.sqrt(len(parts)))), np.zeros((len(graph), 2))
    for number, part in enumerate(parts):
        places = networkx.kamada_kawai_layout(graph.subgraph(sorted(part)))
        row, column = divmod(number, columns)
        for node, place in places.items():
            at[node] = np.asarray(place) + 2.6 * np.array([column, row])
    return at


def page(graph: networkx.Graph) -> dict[str, list[list[float]] | list[list[int]]]:
    """Positions and edges as the page draws them."""
    at = [[round(c, 3) for c in graph.nodes[node]["at"]] for node in graph]
    return {"nodes": at, "edges": [[a, b] for a, b in graph.edges]}

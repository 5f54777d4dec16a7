"""Pairs of graphs with equally many nodes and edges that are not the same graph."""

import networkx

CYCLE, PATH = networkx.cycle_graph, networkx.path_graph


def joined(*graphs: networkx.Graph, edges: tuple[tuple[int, int], ...] = ()) -> networkx.Graph:
    """Disjoint union with consecutive node numbers, plus these edges."""
    found = networkx.disjoint_union_all(graphs)
    found.add_edges_from(edges)
    return found


def torus(*steps: tuple[int, int]) -> networkx.Graph:
    """A 4×4 torus; each node is joined to those these steps away."""
    pairs = [(a, b, a + i, b + j) for a in range(4) for b in range(4) for i, j in steps]
    return networkx.Graph([(4 * a + b, 4 * (c % 4) + d % 4) for a, b, c, d in pairs])


PAIRS = {
    "hexagon, 2 triangles": (CYCLE(6), joined(CYCLE(3), CYCLE(3))),
    "decalin, bicyclopentyl": (
        joined(CYCLE(10), edges=((0, 5),)),
        joined(CYCLE(5), CYCLE(5), edges=((0, 5),)),
    ),
    "cube, Wagner graph": (networkx.hypercube_graph(3), networkx.circulant_graph(8, [1, 4])),
    "rook's moves, Shrikhande": (
        torus((0, 1), (0, 2), (1, 0), (2, 0)),
        torus((0, 1), (1, 0), (1, 1)),
    ),
    "star, path": (networkx.star_graph(3), PATH(4)),
    "chords of a hexagon": (joined(CYCLE(6), edges=((0, 3),)), joined(CYCLE(6), edges=((0, 2),))),
    "branches of a path": (joined(PATH(6), edges=((1, 6),)), joined(PATH(6), edges=((2, 6),))),
}
ALIKE = 4  # the first so many have the same colors under 1-WL

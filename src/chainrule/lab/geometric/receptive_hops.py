"""Claim: after k layers a node depends on exactly the nodes within k edges (J 7.4).

    ∂h_m^{(k)}/∂x_n = 0 if distance(m, n) > k;    so L layers are needed for a graph of diameter L

Measured: one node of a grid is changed, and the outputs of graph convolution, graph attention and
message passing with 1 … `num_layers` layers are compared, in double precision: the number of nodes
that changed although they are farther than k, or did not although they are not.
Bound: exactly 0. Nodes out of reach enter no sum; nodes within reach do, with random weights that
cancel with probability 0.
"""

from collections.abc import Callable

import networkx
import torch
from torch import Tensor, nn

from chainrule.graphs import Graph, from_networkx, undirected
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.geometric.gat import GAT
from chainrule.models.geometric.gcn import GCN
from chainrule.models.geometric.message_passing import MPNN
from chainrule.nn.on_graph import OnGraph

WIDTH = 32
NETWORKS: dict[str, Callable[[int], nn.Module]] = {
    "GCN": lambda k: GCN(WIDTH, [WIDTH] * (k - 1), WIDTH, dropout=0.0),
    "GAT": lambda k: GAT(WIDTH, [WIDTH] * (k - 1), WIDTH, [2] * k, dropout=0.0),
    "message passing": lambda k: MPNN(WIDTH, [WIDTH] * (k - 1), WIDTH),
}


def check(side: int = 9, num_layers: int = 8, seed: int = 0) -> Verdict:
    """A grid.

    Args:
        side: Nodes along one side of the grid.
        num_layers: Layers of the deepest networks.
    """
    return verdict(side, num_layers, seed, extra=None)


def broken() -> Verdict:
    """An edge from corner to corner that the distances leave out."""
    return verdict(9, 4, 0, extra=(0, 80))


def near() -> Near:
    """One diagonal of the first square that the distances leave out."""
    return {"one diagonal": lambda: verdict(9, 2, 0, extra=(0, 10))}


@torch.no_grad()
def verdict(side: int, layers: int, seed: int, extra: tuple[int, int] | None) -> Verdict:
    """Nodes that change, by number of layers, and nodes within reach."""
    grid = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(side, side))
    lengths = networkx.single_source_shortest_path_length(grid, 0)
    distance = torch.tensor([lengths[m] for m in grid])
    edges = from_networkx(grid, torch.zeros(len(grid), 1)).edge_index
    if extra:
        edges = undirected(torch.cat([edges, torch.tensor(extra)[:, None]], 1))
    depths = list(range(1, layers + 1))
    changed: dict[str, tuple[list[float], list[float]]] = {}
    wrong = 0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x = torch.rand(len(grid), WIDTH, dtype=torch.float64)
        other = torch.cat([x[:1] + 1, x[1:]])
        for name, make in NETWORKS.items():
            reached = [differences(make(k).double().eval(), x, other, edges) for k in depths]
            wrong += sum(
                int((found != (distance <= k)).sum())
                for k, found in zip(depths, reached, strict=True)
            )
            beside = 0.1 * len(changed) - 0.1  # so that no marker hides another
            changed[name] = [k + beside for k in depths], [float(found.sum()) for found in reached]
    return Verdict(
        quantity="nodes wrongly changed or unchanged",
        measured=float(wrong),
        relation="=",
        bound=0.0,
        picture=Picture(
            title="A change travels one edge per layer",
            x_label="layers k",
            y_label="nodes affected by a change in the corner",
            curves={"nodes within k edges": within(distance, depths)},
            points=changed,
        ),
        details={"nodes": float(len(grid)), "diameter": float(distance.max())},
    )


def within(distance: Tensor, depths: list[int]) -> tuple[list[float], list[float]]:
    """k, and how many nodes are at most k edges away."""
    return [float(k) for k in depths], [float((distance <= k).sum()) for k in depths]


def differences(network: nn.Module, x: Tensor, other: Tensor, edges: Tensor) -> Tensor:
    """True for nodes whose output changes."""
    nodes = torch.arange(len(x))
    one, two = (OnGraph(network, Graph(known, edges))(nodes) for known in (x, other))
    return (one != two).any(1)

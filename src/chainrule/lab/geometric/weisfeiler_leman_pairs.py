"""Claim: message passing cannot distinguish graphs that color refinement cannot (J 7.4).

    c_{t+1}(m) = new color of (c_t(m), {{c_t(n) : n ~ m}}):   same colors ⇒ same f(G) = Σ_m h_m

Measured: the largest relative difference of f(G) and f(H) over pairs that are not isomorphic but
have the same colors, for graph convolution, attention, message passing and the graph classifier
with random weights, in double precision; the features are the degrees.
Bound: 1e-10, sums in another order. All four must distinguish pairs with different colors by more
than 1e-6, and the library's 1-WL test must classify every pair correctly.
J says that the test decides isomorphism; these pairs show that it does not. Morris et al. (2019),
Xu et al. (2019).
"""

from collections.abc import Callable
from functools import partial

import networkx
import torch
from torch import Tensor, nn

from chainrule.graphs import Graph, from_networkx, union
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.pairs import ALIKE, PAIRS
from chainrule.models.geometric import GAT, GCN, MPNN, GraphClassifier
from chainrule.models.geometric.weisfeiler_leman import distinguishable
from chainrule.nn.on_graph import OnGraph

ROUNDING, VISIBLE = 1e-10, 1e-6
WRITTEN_AT = (
    (0.7, 1e-13),
    (1.7, 1e-11),
    (2.3, 1e-9),
    (2.2, 1e-5),
    (5.6, 1e-3),
    (6.6, 1e-5),
    (7.4, 1e-7),
)


def check(num_layers: int = 3, width: int = 16, seed: int = 0) -> Verdict:
    """The features are the degrees.

    Args:
        num_layers: Layers of the networks.
        width: Units per layer.
    """
    return verdict(num_layers, width, seed, named=0.0)


def broken() -> Verdict:
    """Every node has a random feature that the colors leave out."""
    return verdict(3, 16, 0, named=1.0)


def near() -> Near:
    """A random feature that is small beside the degree."""
    return {
        f"random features of size {size}": partial(verdict, 3, 16, 0, named=size)
        for size in (1e-3, 1e-6)
    }


@torch.no_grad()
def verdict(layers: int, width: int, seed: int, named: float) -> Verdict:
    """With random weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        networks = {name: make(layers, width) for name, make in NETWORKS.items()}
        return compared(networks, named)


def compared(networks: dict[str, Callable[[Graph], Tensor]], named: float) -> Verdict:
    """Differences pair by pair."""
    found: dict[str, list[float]] = {name: [] for name in networks}
    right = True
    for number, pair in enumerate(PAIRS.values()):
        G, H = (colored(graph) for graph in pair)
        right &= distinguishable(G, H) == (number >= ALIKE) and not networkx.is_isomorphic(*pair)
        if named:
            G, H = (Graph(g.x + named * torch.rand_like(g.x), g.edge_index) for g in (G, H))
        for name, network in networks.items():
            f, g = network(union([G, H]))
            found[name].append(((f - g).norm() / f.norm()).item())
    most = max(max(values[:ALIKE]) for values in found.values())
    least = min(min(values[ALIKE:]) for values in found.values())
    numbers = torch.arange(1.0, len(PAIRS) + 1)
    return Verdict(
        quantity="largest relative |f(G) - f(H)|, same colors",
        measured=most,
        relation="≤",
        bound=ROUNDING,
        conditions={
            "the 1-WL test classifies every pair": right,
            "different colors are distinguished": least >= VISIBLE,
        },
        picture=Picture(
            title="Message passing cannot distinguish what color refinement cannot",
            x_label="pair of graphs",
            y_label="relative difference of the outputs",
            points={
                name: ((numbers + 0.12 * k - 0.18).tolist(), [max(v, 1e-17) for v in values])
                for k, (name, values) in enumerate(found.items())
            },
            marks={
                **dict(zip(PAIRS, WRITTEN_AT, strict=True)),
                "same colors | different colors": ALIKE + 0.5,
            },
            log="y",
        ),
        details={"smallest difference where the colors differ": least},
    )


def colored(graph: networkx.Graph) -> Graph:
    """With the degree of each node as its feature."""
    degrees = torch.tensor([[float(d)] for _, d in graph.degree()], dtype=torch.float64)
    return from_networkx(graph, degrees)


def summed(network: nn.Module) -> Callable[[Graph], Tensor]:
    """Σ_m h_m of each graph of a union, from a network with one output per node."""
    network.double().eval()

    def f(graphs: Graph) -> Tensor:
        h = OnGraph(network, graphs)(torch.arange(graphs.num_nodes))
        return torch.stack([h[graphs.batch == k].sum(0) for k in range(graphs.num_graphs)])

    return f


def read_out(network: GraphClassifier) -> Callable[[Graph], Tensor]:
    """f(G) of each graph of a union."""
    network.double().eval()
    return lambda graphs: network(graphs.x, graphs.edge_index, graphs.batch)


NETWORKS: dict[str, Callable[[int, int], Callable[[Graph], Tensor]]] = {
    "GCN": lambda k, d: summed(GCN(1, [d] * (k - 1), d)),
    "GAT": lambda k, d: summed(GAT(1, [d] * (k - 1), d, [2] * k)),
    "message passing": lambda k, d: summed(MPNN(1, [d] * (k - 1), d, "sum")),
    "graph classifier": lambda k, d: read_out(GraphClassifier(1, d, d, k)),
}

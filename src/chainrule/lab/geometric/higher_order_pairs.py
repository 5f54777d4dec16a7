"""Claim: a network of node pairs distinguishes graphs that message passing cannot (J 7.4).

    T ← [T, F_1(T) F_2(T)] W:   f(G) ≠ f(H) for pairs with the same 1-WL colors,
    f(G) = f(H) for pairs with the same 2-FWL colors, such as two strongly regular graphs

Measured: the smallest relative difference of f(G) and f(H) over the pairs that 2-FWL distinguishes,
three of which have the same colors under 1-WL, for the provably powerful graph network with random
weights in double precision; the features are the degrees.
Bound: 1e-7, a million times the rounding of 1e-13 or less, below which the rook's graph and the
Shrikhande graph must stay: no 2-FWL network distinguishes them. The library's message passing must
stay below 1e-10 on the first three. Renumbering the nodes must change f(G) by less than 1e-10.
J asks for higher-order networks. Maron et al. (2019), Morris et al. (2019).
"""

from functools import partial

import networkx
import torch
from torch import Tensor

from chainrule.graphs import Graph, from_networkx, union
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.lab.helpers.pairs import ALIKE, PAIRS
from chainrule.models.geometric import PPGN, GraphClassifier

VISIBLE, ROUNDING = 1e-7, 1e-10
REGULAR = ALIKE - 1  # the pair of strongly regular graphs


def check(num_layers: int = 3, width: int = 16, seed: int = 0) -> Verdict:
    """Matrix products of pair features.

    Args:
        num_layers: Matrix products of the network.
        width: Channels of a pair.
    """
    return verdict(num_layers, width, seed)


def broken() -> Verdict:
    """Message passing with as many layers."""
    return verdict(3, 16, 0, pairwise=False)


def near() -> Near:
    """No product through a third node, and random features that the colors leave out."""
    return {
        "products without a third node": partial(verdict, 3, 16, 0, third=False),
        "random features of size 1e-06": partial(verdict, 3, 16, 0, named=1e-6),
    }


@torch.no_grad()
def verdict(
    layers: int,
    width: int,
    seed: int,
    pairwise: bool = True,
    third: bool = True,
    named: float = 0.0,
) -> Verdict:
    """Differences pair by pair."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        passing = GraphClassifier(1, width, width, layers).double().eval()
        powerful = PPGN(1, width, width, layers).double().eval()
        known = [tuple(colored(g, named) for g in pair) for pair in PAIRS.values()]
        orders = [torch.randperm(G.num_nodes) for G, _ in known]
    if not third:
        for layer in powerful.layers:
            layer.mix.weight[:, -width:] = 0.0  # type: ignore[union-attr, operator]
    network = powerful if pairwise else passing
    found = torch.tensor([apart(network, G, H) for G, H in known])
    blind = torch.tensor([apart(passing, G, H) for G, H in known])
    moved = max(
        apart(network, G, renumbered(G, p)) for (G, _), p in zip(known, orders, strict=True)
    )
    visible = torch.cat([found[:REGULAR], found[ALIKE:]]).min().item()
    numbers = torch.arange(1.0, len(PAIRS) + 1)
    return Verdict(
        quantity="smallest relative |f(G) - f(H)|, different 2-FWL colors",
        measured=visible,
        relation="≥",
        bound=VISIBLE,
        conditions={
            "strongly regular graphs stay equal": found[REGULAR].item() <= ROUNDING,
            "message passing is blind to the first": blind[:ALIKE].max().item() <= ROUNDING,
            "the order of the nodes does not matter": moved <= ROUNDING,
        },
        picture=Picture(
            title="Features of node pairs distinguish what message passing cannot",
            x_label="pair of graphs",
            y_label="relative difference of the outputs",
            points={
                "features of pairs (PPGN)": (numbers.tolist(), found.clamp_min(1e-17).tolist()),
                "message passing": ((numbers + 0.1).tolist(), blind.clamp_min(1e-17).tolist()),
            },
            marks={
                "same 1-WL colors | different": ALIKE + 0.5,
                "strongly regular": (REGULAR + 0.6, 1e-13),
            },
            bounds={"visible": ([1.0, float(len(PAIRS))], [VISIBLE] * 2)},
            log="y",
        ),
        details={"strongly regular pair": found[REGULAR].item(), "renumbered": moved},
    )


def apart(network: PPGN | GraphClassifier, G: Graph, H: Graph) -> float:
    """‖f(G) - f(H)‖ / ‖f(G)‖."""
    both = union([G, H])
    f, g = network(both.x, both.edge_index, both.batch)
    return ((f - g).norm() / f.norm()).item()


def colored(graph: networkx.Graph, named: float) -> Graph:
    """With the degree of each node as its feature."""
    degrees = torch.tensor([[float(d)] for _, d in graph.degree()], dtype=torch.float64)
    return from_networkx(graph, degrees + named * torch.rand_like(degrees))


def renumbered(graph: Graph, order: Tensor) -> Graph:
    return Graph(graph.x[order], order.argsort()[graph.edge_index])

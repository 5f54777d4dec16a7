"""Claim: a two-layer graph convolutional network is softmax(Ā (Ā X W₀)₊ W₁) (J 7.4).

    Y = softmax(Ā (Ā X W_0)₊ W_1),      Ā = D^{-1/2} (A + I) D^{-1/2},   d_m = 1 + Σ_n a_nm

Measured: the largest difference between the library's sparse network without biases and this line
in NumPy, with the dense adjacency that networkx gives for the karate club, over random weights, in
double precision; and for the path 0 - 1 - 2 and weights 1 the difference from the values by hand.
Bound: 1e-12, sums of at most 34 products in another order.
D counts the loop of every node here; in the Laplacian of J 7.5 the same letter does not.
Kipf and Welling (2017).
"""

import networkx
import numpy as np
import torch
from scipy.special import softmax

from chainrule.graphs import Graph, from_networkx, path
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.geometric.gcn import GCN
from chainrule.nn.on_graph import OnGraph

ROUNDING = 1e-12
CLASSES = 4
BY_HAND = (5 / 12, 5 / (6 * 6**0.5), 1 / 6)  # Ā² (1, 0, 0) on the path 0 - 1 - 2, d̄ = (2, 3, 2)


def check(width: int = 16, trials: int = 20, seed: int = 0) -> Verdict:
    """Each node has a loop, which D counts.

    Args:
        width: Hidden units.
        trials: Random weights.
    """
    return verdict(width, trials, seed)


def broken() -> Verdict:
    """A without I."""
    return verdict(16, 20, 0, loops=0.0)


def near() -> Near:
    """Loops of another weight, and a D that does not count them, as in J 7.5."""
    return {
        **ten_percent("I", lambda factor: verdict(16, 3, 0, loops=factor)),
        "D without loops": lambda: verdict(16, 3, 0, counted=0.0),
    }


@torch.no_grad()
def verdict(
    width: int, trials: int, seed: int, loops: float = 1.0, counted: float | None = None
) -> Verdict:
    """The network against the formula."""
    club = networkx.karate_club_graph()
    A = networkx.to_numpy_array(club, weight=None)
    root = ((loops if counted is None else counted) + A.sum(1)) ** -0.5
    A_bar = root[:, None] * (A + loops * np.eye(len(A))) * root
    graph = from_networkx(club, torch.eye(len(A), dtype=torch.float64))
    worst = impulse_error()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for _ in range(trials):
            network = GCN(len(A), [width], CLASSES).double().eval()
            for layer in network.layers:
                layer.weight.mul_(5)  # type: ignore[operator]
            W_0, W_1 = (layer.weight.T.numpy() for layer in network.layers)  # type: ignore[operator]
            found = outputs(network, graph).softmax(1).numpy()
            formula = softmax(A_bar @ np.maximum(A_bar @ W_0, 0) @ W_1, 1)
            worst = max(worst, np.abs(found - formula).max())
    return Verdict(
        quantity="largest |network - formula|",
        measured=float(worst),
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="A two-layer GCN on 34 club members equals one line of matrix algebra",
            x_label="probability of a class by the formula",
            y_label="by the network",
            points={"members of the club": (formula[:, 0].tolist(), found[:, 0].tolist())},
            bounds={"equal": ([0.0, 1.0], [0.0, 1.0])},
        ),
        details={"trials": float(trials), "error on the path of three": impulse_error()},
    )


def impulse_error() -> float:
    """The largest difference from the values by hand on the path 0 - 1 - 2."""
    network = GCN(1, [1], 1).double().eval()
    for layer in network.layers:
        layer.weight.fill_(1.0)  # type: ignore[operator]
    impulse = torch.tensor([[1.0], [0.0], [0.0]], dtype=torch.float64)
    found = outputs(network, Graph(impulse, path(3)))[:, 0]
    return max(abs(value - hand) for value, hand in zip(found.tolist(), BY_HAND, strict=True))


def outputs(network: GCN, graph: Graph) -> torch.Tensor:
    return OnGraph(network, graph)(torch.arange(graph.num_nodes))

"""Claim: a two-layer graph convolutional network is softmax(Ā (Ā X W₀)₊ W₁) (J 7.4).

    Y = softmax(Ā (Ā X W_0)₊ W_1),      Ā = D^{-1/2} (A + I) D^{-1/2},   d_m = 1 + Σ_n a_nm

Measured: the largest difference between this formula, computed with dense matrices, and the
library's sparse network without biases, over random weights on the karate club, in double
precision.
Bound: 1e-12, sums of at most 34 products in another order.
Kipf and Welling (2017).
"""

import torch
from torch import Tensor

from chainrule.data.datasets.karate import CLASSES, load
from chainrule.graphs import Graph, to_scipy
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.geometric.gcn import GCN
from chainrule.nn.on_graph import OnGraph

ROUNDING = 1e-12


def check(width: int = 16, trials: int = 20, seed: int = 0) -> Verdict:
    """Each node has a loop.

    Args:
        width: Hidden units.
        trials: Random weights.
    """
    return verdict(width, trials, seed, loops=1.0)


def broken() -> Verdict:
    """A without I."""
    return verdict(16, 20, 0, loops=0.0)


def near() -> Near:
    """Loops of another weight."""
    return ten_percent("I", lambda factor: verdict(16, 3, 0, loops=factor))


@torch.no_grad()
def verdict(width: int, trials: int, seed: int, loops: float) -> Verdict:
    """The network against the formula."""
    known = load().graph
    graph = Graph(known.x.double(), known.edge_index)
    A = torch.from_numpy(to_scipy(graph).toarray()).double()
    joined = A + loops * torch.eye(len(A), dtype=A.dtype)
    root = joined.sum(1).rsqrt()
    A_bar = root[:, None] * joined * root
    worst = 0.0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for _ in range(trials):
            network = GCN(graph.x.shape[1], [width], len(CLASSES)).double().eval()
            W_0, W_1 = (5 * layer.weight.T for layer in network.layers)  # type: ignore[operator]
            for layer in network.layers:
                layer.weight.mul_(5)  # type: ignore[operator]
            found = OnGraph(network, graph)(torch.arange(graph.num_nodes)).softmax(1)
            formula = (A_bar @ (A_bar @ graph.x @ W_0).relu() @ W_1).softmax(1)
            worst = max(worst, (found - formula).abs().max().item())
    return Verdict(
        quantity="largest |network - formula|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="A two-layer GCN on 34 club members equals one line of matrix algebra",
            x_label=f"probability of {CLASSES[0]} by the formula",
            y_label="by the network",
            points={"members of the club": (first(formula), first(found))},
            bounds={"equal": ([0.0, 1.0], [0.0, 1.0])},
        ),
        details={"trials": float(trials)},
    )


def first(p: Tensor) -> list[float]:
    return p[:, 0].tolist()

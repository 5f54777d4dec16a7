"""Claim: graph networks are equivariant: permuted nodes give permuted outputs (J 7.4).

    f(PX, P A Pᵀ) = P f(X, A)        for every permutation P of the nodes

Measured: the largest difference between the two sides over random permutations of the karate club's
members, for convolution, attention, message passing, Chebyshev and spectral filters, in double
precision.
Bound: 1e-9; sums in another order round differently, and eigenvectors have errors of 1e-14 divided
by the distance between eigenvalues.
J prints f(X, A) = P f(PX, P A Pᵀ), which requires P² = I.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from chainrule.data.datasets.karate import load
from chainrule.graphs import Graph
from chainrule.lab.claim import Near, Picture, Verdict
from chainrule.models.geometric import GAT, GCN, MPNN, ChebNet, PolynomialGNN, SpectralGNN
from chainrule.nn.on_graph import OnGraph

ROUNDING = 1e-9
WIDTH = 6
NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "GCN": lambda: GCN(WIDTH, [16], 2),
    "GAT": lambda: GAT(WIDTH, [8], 2),
    "message passing": lambda: MPNN(WIDTH, [16], 2),
    "Chebyshev": lambda: ChebNet(WIDTH, [16], 2),
    "polynomial": lambda: PolynomialGNN(WIDTH, [16], 2),
    "spectral": lambda: SpectralGNN(WIDTH, [16], 2),
}


def check(permutations: int = 5, seed: int = 0) -> Verdict:
    """f(PX, PAPᵀ) = P f(X, A).

    Args:
        permutations: Random permutations for each network.
    """
    return verdict(permutations, seed, as_printed=False)


def broken() -> Verdict:
    """f(X, A) = P f(PX, PAPᵀ), as printed."""
    return verdict(5, 0, as_printed=True)


def near() -> Near:
    """Features that tell a little of the number of a node."""
    return {
        f"numbers of size {size}": partial(verdict, 1, 0, as_printed=False, size=size)
        for size in (1e-3, 1e-6)
    }


@torch.no_grad()
def verdict(orders: int, seed: int, as_printed: bool, size: float = 0.0) -> Verdict:
    """Outputs with the nodes in other orders."""
    edges, worst = load().graph.edge_index, {}
    shown: tuple[Tensor, Tensor, Tensor] = (torch.empty(0),) * 3
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        x = torch.randn(int(edges.max()) + 1, WIDTH, dtype=torch.float64)
        numbers = size * torch.arange(len(x), dtype=x.dtype)[:, None]
        for name, make in NETWORKS.items():
            network, worst[name] = make().double().eval(), 0.0
            f = outputs(network, Graph(x + numbers, edges))
            for _ in range(orders):
                order = torch.randperm(len(x))  # node m is now where order[·] = m
                renamed = Graph(x[order] + numbers, order.argsort()[edges])
                f_renamed = outputs(network, renamed)
                difference = f_renamed[order] - f if as_printed else f_renamed - f[order]
                worst[name] = max(worst[name], difference.abs().max().item())
            if name == "GCN":
                shown = f, f_renamed[order.argsort()], f_renamed[order]
    largest = max(worst.values())
    x_axis, right, printed = (h.flatten().tolist() for h in shown)
    ends = [min(x_axis), max(x_axis)]
    return Verdict(
        quantity="largest |f(PX, PAPᵀ) - P f(X, A)|",
        measured=largest,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Permuting the nodes only permutes the outputs",
            x_label="output of a node, f(X, A)",
            y_label="its output after permuting and back",
            points={
                "P f(PX, PAPᵀ), as printed": (x_axis, printed),
                "Pᵀ f(PX, PAPᵀ)": (x_axis, right),
            },
            bounds={"equal": (ends, ends)},
        ),
        details=worst,
    )


def outputs(network: nn.Module, graph: Graph) -> Tensor:
    return OnGraph(network, graph)(torch.arange(graph.num_nodes))

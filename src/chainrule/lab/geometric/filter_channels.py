"""Claim: a graph filter sums over input channels; its weights fit any number of nodes (J 7.5).

    ξ_j = Σ_i p_ij(L) x_i + b_j 1,     p_ij(L) = Σ_k w_kij Lᵏ        i input, j output channels

Measured: the largest difference between the library's sparse layer and this sum in NumPy, with the
dense Laplacian that networkx gives, and between the layer's output on a graph with permuted nodes
and its permuted output.
Bound: 1e-10 in double precision, sums in another order.
J prints ξ_m = Σ_n p_mn(L) x_n + b_n with a sum over the M nodes: weights for each pair of nodes, M²
(K + 1) + M in number, which fit only one graph in one order. Defferrard et al. (2016).
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import networkx
import numpy as np
import torch
from torch import Tensor

from chainrule.graphs import Graph, from_networkx
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.geometric.polynomial import PolynomialGNN
from chainrule.nn.on_graph import OnGraph

ROUNDING = 1e-10
INPUTS, OUTPUTS, TERMS = 3, 4, 3
SIZES = (10, 20, 50, 100, 200)


def check(trials: int = 10, seed: int = 0) -> Verdict:
    """One bias for each output channel.

    Args:
        trials: Random graphs of growing size.
    """
    return verdict(trials, seed)


def broken() -> Verdict:
    """A bias for each node as well."""
    return verdict(10, 0, bias_of_nodes=1.0)


def near() -> Near:
    """Small biases of the nodes, weights off by 10 %, and powers of D - A."""
    return {
        "node biases of 1e-06": partial(verdict, 3, 0, bias_of_nodes=1e-6),
        **ten_percent("w_K", lambda factor: verdict(3, 0, last=factor)),
        "powers of D - A": partial(verdict, 3, 0, matrix=networkx.laplacian_matrix),
    }


@torch.no_grad()
def verdict(
    trials: int,
    seed: int,
    bias_of_nodes: float = 0.0,
    last: float = 1.0,
    matrix: Callable[[networkx.Graph], Any] = networkx.normalized_laplacian_matrix,
) -> Verdict:
    """The layer against the sum, and against itself on permuted nodes."""
    worst = 0.0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = PolynomialGNN(INPUTS, [], OUTPUTS, TERMS).double().eval()
        for trial in range(trials):
            nodes = 10 + 5 * trial
            known = networkx.connected_watts_strogatz_graph(nodes, 4, 0.5, seed=seed + trial)
            graph = from_networkx(known, torch.randn(nodes, INPUTS, dtype=torch.float64))
            network.layers[0].bias.normal_()  # type: ignore[operator]
            own = bias_of_nodes * torch.randn(nodes, 1, dtype=torch.float64)
            found = outputs(network, graph) + own
            order = torch.randperm(nodes)
            renamed = Graph(graph.x[order], order.argsort()[graph.edge_index])
            again = outputs(network, renamed) + own
            summed = filtered(network, matrix(known).toarray(), graph.x.numpy(), last)
            for difference in (found - torch.from_numpy(summed), again - found[order]):
                worst = max(worst, difference.abs().max().item())
    sizes = [float(n) for n in SIZES]
    weights = float(sum(p.numel() for p in network.parameters()))
    by_node = [n**2 * TERMS + n for n in sizes]
    return Verdict(
        quantity="largest |layer - Σ_i p_ij(L) x_i - b_j|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="Weights between channels fit every graph, weights between nodes only one",
            x_label="nodes of the graph, M",
            y_label="weights of a layer",
            curves={
                "sum over channels": (
                    sizes,
                    [float(TERMS * INPUTS * OUTPUTS + OUTPUTS)] * len(sizes),
                ),
                "sum over nodes, as printed": (sizes, by_node),
            },
            points={"sum over channels": (sizes, [weights] * len(sizes))},
            log="xy",
        ),
        details={"weights": weights},
    )


def outputs(network: PolynomialGNN, graph: Graph) -> Tensor:
    return OnGraph(network, graph)(torch.arange(graph.num_nodes))


def filtered(network: PolynomialGNN, L: np.ndarray, x: np.ndarray, last: float = 1.0) -> np.ndarray:
    """Σ_i p_ij(L) x_i + b_j, filter by filter; `last` scales the weights of the highest power."""
    W, b = (p.numpy().copy() for p in (network.layers[0].weight, network.layers[0].bias))  # type: ignore[operator]
    W[-1] *= last
    found = np.tile(b, (len(x), 1))
    for i, j in product(range(INPUTS), range(OUTPUTS)):
        p_ij = sum(W[k, i, j] * np.linalg.matrix_power(L, k) for k in range(TERMS))
        found[:, j] += p_ij @ x[:, i]
    return found

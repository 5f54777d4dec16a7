"""Claim: depth makes the nodes of a graph alike, at the rate of its spectral gap (J 7.4).

    d(H) = ‖H - u uᵀ H‖,  u ∝ D̄^{1/2} 1:     d(φ(Ā H W)) ≤ σ₁(W) λ₂ d(H),     λ₂ = 1 - gap
    H_l = Ā^l X from the slowest start X = c u + u_2:     d(H_l) = λ₂^l d(X)

λ₂ is the second largest |eigenvalue| of Ā; u spans the signals that no layer changes.
Measured: in deep graph networks, the largest |d(H_l) / λ₂^l d(X) - 1| from the slowest start with W
= I, where the ReLU has no effect, and the largest d(H_l) / λ₂^l d(X) - 1 from random X ≥ 0 with
random orthogonal W and ReLUs.
Bound: 1e-8: rounding of 1e-16 per layer against λ₂^l ≥ 1e-5.
Oono and Suzuki (2020); Chen et al. (2020).
"""

import networkx
import torch
from torch import Tensor

from chainrule.graphs import Graph, from_networkx
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.geometric.gcn import GCN
from chainrule.nn.laplacian import normalized_adjacency

BOUND = 1e-8
WIDTH = 8
GRAPHS = {
    "ring": networkx.cycle_graph(16),
    "club": networkx.karate_club_graph(),
    "random": networkx.random_regular_graph(6, 40, seed=0),
}


def check(num_layers: int = 30, seed: int = 0) -> Verdict:
    """Weights of norm 1.

    Args:
        num_layers: Layers of the network.
    """
    return verdict(num_layers, seed, stretch=1.0)


def broken() -> Verdict:
    """Weights of norm 1.2."""
    return verdict(30, 0, stretch=1.2)


def near() -> Near:
    """Weights of norm 0.9 and 1.1."""
    return ten_percent("W", lambda factor: verdict(10, 0, stretch=factor))


@torch.no_grad()
def verdict(layers: int, seed: int, stretch: float) -> Verdict:
    """Distances from u, layer by layer."""
    depth = torch.arange(1, layers + 1, dtype=torch.float64)
    worst, curves, points, gaps = 0.0, {}, {}, {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = GCN(WIDTH, [WIDTH] * (layers - 1), WIDTH, dropout=0.0).double().eval()
        for name, known in GRAPHS.items():
            edges = from_networkx(known, torch.zeros(len(known), 1)).edge_index
            A_bar = normalized_adjacency(Graph(torch.zeros(len(known), 1).double(), edges))
            values, U = torch.linalg.eigh(A_bar.dense())
            second = values[:-1].abs().argmax()
            u, u_2, rate = U[:, -1].abs(), U[:, second], values[second].abs().item()
            slowest = (u * (u_2.abs() / u).max() + u_2)[:, None].repeat(1, WIDTH)
            weigh(network, torch.eye(WIDTH).expand(layers, -1, -1) * stretch)
            slow = distances(network, Graph(slowest, edges), u) / rate**depth
            drawn = torch.randn(layers, WIDTH, WIDTH, dtype=torch.float64)
            weigh(network, torch.linalg.qr(drawn)[0] * stretch)
            quick = distances(network, Graph(torch.rand_like(slowest), edges), u) / rate**depth
            worst = max(worst, (slow - 1).abs().max().item(), (quick - 1).max().item())
            label = f"{name}: gap {1 - rate:.2f}"
            curves[label] = (depth.tolist(), (rate**depth).tolist())
            points[label] = (depth[2::4].tolist(), (slow * rate**depth)[2::4].tolist())
            gaps[f"gap of {name}"] = 1 - rate
    return Verdict(
        quantity="largest d(H_l) / (λ₂^l d(X)) - 1",
        measured=worst,
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Depth makes all nodes alike, faster the wider the spectral gap",
            x_label="layers",
            y_label="relative distance from smooth",
            curves=curves,
            points=points,
            log="y",
        ),
        details=gaps,
    )


def weigh(network: GCN, W: Tensor) -> None:
    for layer, W_l in zip(network.layers, W, strict=True):
        layer.weight.copy_(W_l)  # type: ignore[operator]


def distances(network: GCN, graph: Graph, u: Tensor) -> Tensor:
    """d(H_l) / d(X) of every layer."""
    outputs = network.layer_outputs(**network.precompute(graph))
    d = [torch.linalg.norm(h - torch.outer(u, u @ h)) for h in (graph.x, *outputs)]
    return torch.stack(d[1:]) / d[0]

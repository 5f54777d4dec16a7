"""Claim: a root hears each leaf of a tree 4 times more faintly per layer of depth (J 7.4).

    ∂h_root/∂x_leaf = (Āʳ)_{root,leaf} W = 4^{1-r}/√6 W,     W = W_1 ⋯ W_r,   binary tree, r layers
    ‖∂h_root/∂x_leaf‖ ≤ 4^{1-r}/√6 · Π ‖W_l‖ with ReLUs,       rank ∂h_root/∂(all leaves) ≤ width

d̄ is 3 at the root, 2 at a leaf and 4 between them, and the only walk of r steps is the path. 2ʳ
leaves must pass through one vector of fixed size: a bottleneck, which depth cannot widen.
Measured: Jacobians of the library's GCN at the root, by depth: the largest relative difference from
4^{1-r}/√6 with W_l = I and positive signals, where the ReLUs have no effect, and the largest excess
of the norm over the bound with random orthogonal W_l.
Bound: 1e-12, products of `depth` numbers in double precision. The rank must be the width at all
depths, although there are 2ʳ times as many numbers at the leaves.
Alon and Yahav (2021), Topping et al. (2022).
"""

import networkx
import torch
from torch import Tensor

from chainrule.graphs import Graph, from_networkx
from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.geometric.gcn import GCN

ROUNDING = 1e-12
WIDTH = 4


def check(depth: int = 6, seed: int = 0) -> Verdict:
    """A factor of 4 per layer.

    Args:
        depth: Depth of the largest tree.
    """
    return verdict(depth, seed)


def broken() -> Verdict:
    """A factor of 2, as if only the number of leaves counted."""
    return verdict(6, 0, factor=2.0)


def near() -> Near:
    """Other factors, and weights that are a little longer."""
    return {
        **ten_percent("4", lambda scale: verdict(4, 0, factor=4 * scale)),
        **ten_percent("W", lambda scale: verdict(4, 0, stretch=scale)),
    }


def verdict(depth: int, seed: int, factor: float = 4.0, stretch: float = 1.0) -> Verdict:
    """Jacobians at the root, by depth."""
    worst, ranks, shares, loudest = 0.0, [], [], []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for r in range(1, depth + 1):
            graph, predicted = tree(r), factor ** (1 - r) / 6**0.5
            same = torch.eye(WIDTH, dtype=torch.float64).repeat(r, 1, 1)
            J = heard(graph, stretch * same)
            expected = predicted * torch.eye(WIDTH, dtype=torch.float64).expand_as(J)
            worst = max(worst, (J - expected).abs().max().item() / predicted)
            ranks.append(int(torch.linalg.matrix_rank(J.transpose(0, 1).flatten(1))))
            W = torch.linalg.qr(torch.randn(r, WIDTH, WIDTH, dtype=torch.float64))[0]
            norms = torch.linalg.matrix_norm(heard(graph, stretch * W), 2)
            worst = max(worst, norms.max().item() / predicted - 1)
            shares.append(J.abs().max().item())
            loudest.append(norms.max().item())
    depths = [float(r) for r in range(1, depth + 1)]
    return Verdict(
        quantity="largest relative error of a leaf's influence",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        conditions={"the rank is the width at every depth": ranks == [WIDTH] * depth},
        picture=Picture(
            title="The deeper the tree, the more fainter voices share one vector",
            x_label="depth of the tree, r",
            y_label="influence of one leaf on the root",
            curves={"4^{1-r}/√6": (depths, [4 ** (1 - r) / 6**0.5 for r in depths])},
            points={
                "W = I": (depths, shares),
                "random W with ReLUs, loudest leaf": (depths, loudest),
            },
            log="y",
        ),
        details={
            "leaves of the largest tree": 2.0**depth,
            "share of the bound used by random W": max(
                found / share for found, share in zip(loudest, shares, strict=True)
            ),
        },
    )


def tree(depth: int) -> Graph:
    """A binary tree with random positive signals; node 0 is the root, the leaves come last."""
    known = networkx.balanced_tree(2, depth)
    return from_networkx(known, 0.5 + torch.rand(len(known), WIDTH, dtype=torch.float64))


def heard(graph: Graph, W: Tensor) -> Tensor:
    """∂h_root/∂x_leaf of every leaf, (leaves, outputs, inputs)."""
    layers = len(W)
    network = GCN(WIDTH, [WIDTH] * (layers - 1), WIDTH, dropout=0.0).double().eval()
    with torch.no_grad():
        for layer, W_l in zip(network.layers, W, strict=True):
            layer.weight.copy_(W_l)  # type: ignore[operator]
    J = torch.autograd.functional.jacobian(lambda x: network(x, graph.edge_index)[0], graph.x)
    return J[:, -(2**layers) :].transpose(0, 1)

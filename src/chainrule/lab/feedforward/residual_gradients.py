"""Claim: gradients vanish with depth in a plain sigmoid network, not in a residual one (J 2.3).

    Var W_ij = 2/n,  |σ'| ≤ ¼:      g = ∂f/∂x at the first layer,   g_L at the last
    plain,     h_l = σ(W h_{l-1} + b):              E ‖g‖² ≤ (2/16)ᴸ ‖g_L‖²
    residual,  h_l = h_{l-1} + σ(W h_{l-1} + b) - ½:     ‖g_L‖² ≲ E ‖g‖² ≲ (1 + 2/16)ᴸ ‖g_L‖²

Each layer multiplies g by Wᵀ diag σ', or by the identity plus that.
Measured: log₂ of the factor by which the mean of ‖g‖²/‖g_L‖² over networks lies outside these
bounds; the largest over depths.
Bound: 0.2, for sampling the networks and for the correlation of σ' with W, which is of order 1/√n
per layer and changes sign from one layer to the next.
He et al. (2016), CVPR.
"""

import math
from collections.abc import Sequence

import torch
from torch import nn

from chainrule.lab.claim import Picture, Verdict
from chainrule.models.feedforward.mlp import MLP
from chainrule.models.feedforward.residual_network import ResidualLayer
from chainrule.nn.initialization import initialize

BOUND = 0.2
DEPTHS = (1, 2, 4, 8, 16, 24, 32)


def check(width: int = 64, networks: int = 4, seed: int = 0) -> Verdict:
    """Sigmoid networks with the library's initial weights.

    Args:
        width: Units n of every layer.
        networks: Random networks of each depth.
    """
    return verdict(width, networks, seed, activation="sigmoid")


def broken() -> Verdict:
    """Slopes above ¼: with tanh the plain gradient does not fall as fast."""
    return verdict(64, 2, 0, activation="tanh")


def verdict(width: int, networks: int, seed: int, activation: str) -> Verdict:
    """Mean squared gradients by depth."""
    plain, residual = [], []
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        for depth in DEPTHS:
            deep = [MLP(width, [width] * depth, 1, activation) for _ in range(networks)]
            skip = [residual_network(width, depth, activation) for _ in range(networks)]
            plain.append(squared_gradient(deep))
            residual.append(squared_gradient(skip))
    outside = [
        max(
            math.log2(p) - depth * math.log2(1 / 8),
            math.log2(r) - depth * math.log2(9 / 8),
            -math.log2(r),
        )
        for depth, p, r in zip(DEPTHS, plain, residual, strict=True)
    ]
    depths = [float(depth) for depth in DEPTHS]
    return Verdict(
        quantity="log₂ of the factor outside the bounds",
        measured=max(outside),
        relation="≤",
        bound=BOUND,
        picture=Picture(
            title="Shortcuts carry the gradient through 32 layers",
            x_label="hidden layers L",
            y_label="squared gradient, first layer over last",
            points={"plain": (depths, plain), "residual": (depths, residual)},
            bounds={
                "plain ≤ 8⁻ᴸ": (depths, [8**-depth for depth in depths]),
                "residual ≤ (9/8)ᴸ": (depths, [1.125**depth for depth in depths]),
            },
            log="y",
        ),
        details={"plain, 32 layers": plain[-1], "residual, 32 layers": residual[-1]},
    )


def residual_network(width: int, depth: int, activation: str) -> nn.Sequential:
    """With Var W_ij = 2/n in every layer, where the library's own network starts nearer to 0."""
    layers = [ResidualLayer(width, width, activation) for _ in range(depth)]
    return nn.Sequential(*layers, initialize(nn.Linear(width, 1), "lecun"))


def squared_gradient(networks: Sequence[nn.Module]) -> float:
    """Mean of ‖∂f/∂x‖² over ‖∂f/∂h_L‖², the squared norm of the output's weights."""
    ratios = []
    for network in networks:
        *_, weight, _ = network.double().parameters()
        width = weight.shape[1]
        x = torch.randn(8, width, dtype=torch.float64, requires_grad=True)
        (g,) = torch.autograd.grad(network(x).sum(), x)
        ratios.append(g.square().sum(1).mean() / weight.detach().square().sum())
    return torch.stack(ratios).mean().item()

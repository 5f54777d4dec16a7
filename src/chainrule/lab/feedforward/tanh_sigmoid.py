"""Claim: sigmoid and tanh networks compute the same functions (J 2.4).

    tanh(z) = 2 σ(2z) - 1      ⇒      vᵀ tanh(Wx + b) + c  =  (2v)ᵀ σ(2Wx + 2b) + c - Σ_i v_i

Measured: the largest difference between random tanh networks and the sigmoid networks built from
their weights, relative to Σ|v_i|.
Bound: 1e-14, fifty roundings in double precision.
"""

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.mlp import MLP
from chainrule.nn.activations import sigmoid, tanh

ROUNDING = 1e-14


def check(networks: int = 20, width: int = 30, points: int = 200, seed: int = 0) -> Verdict:
    """Inner weights doubled.

    Args:
        networks: Random networks.
        width: Hidden units.
        points: Inputs at which both are compared.
    """
    return verdict(networks, width, points, seed, factor=2.0)


def broken() -> Verdict:
    """Inner weights not doubled."""
    return verdict(2, 30, 200, 0, factor=1.0)


def near() -> Near:
    """Inner weights not quite doubled."""
    return ten_percent("the factor 2", lambda factor: verdict(2, 30, 200, 0, factor=2 * factor))


def verdict(networks: int, width: int, points: int, seed: int, factor: float) -> Verdict:
    """Pairs of networks on the same inputs."""
    generator = torch.Generator().manual_seed(seed)
    worst = 0.0
    for _ in range(networks):
        W = torch.randn(width, 3, generator=generator, dtype=torch.float64)
        v = torch.randn(1, width, generator=generator, dtype=torch.float64)
        b = torch.randn(width, generator=generator, dtype=torch.float64)
        x = 3 * torch.randn(points, 3, generator=generator, dtype=torch.float64)
        one = network("tanh", W, b, v, torch.zeros(1))
        other = network("sigmoid", factor * W, factor * b, 2 * v, -v.sum(1))
        worst = max(worst, ((one(x) - other(x)).abs().max() / v.abs().sum()).item())
    z = torch.linspace(-4, 4, 81, dtype=torch.float64)
    few = z[::5]
    return Verdict(
        quantity="largest |tanh network - sigmoid network| / Σ|v_i|",
        measured=worst,
        relation="≤",
        bound=ROUNDING,
        picture=Picture(
            title="tanh is the sigmoid, stretched and shifted",
            x_label="z",
            y_label="output of the unit",
            curves={
                "tanh(z)": (z.tolist(), tanh(z).tolist()),
                "σ(z)": (z.tolist(), sigmoid(z).tolist()),
            },
            points={"2 σ(2z) - 1": (few.tolist(), (2 * sigmoid(factor * few) - 1).tolist())},
        ),
        details={"networks": float(networks)},
    )


@torch.random.fork_rng()
@torch.no_grad()
def network(activation: str, W: Tensor, b: Tensor, v: Tensor, c: Tensor) -> MLP:
    """vᵀ φ(Wx + b) + c."""
    model = MLP(W.shape[1], [len(W)], 1, activation, initialization="zero").double()
    for parameter, value in zip(model.parameters(), (W, b, v, c), strict=True):
        parameter.copy_(value)
    return model.requires_grad_(False)

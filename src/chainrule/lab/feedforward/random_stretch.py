"""Claim: a random ReLU network stretches curves by the same factor in every layer (A 1.2.2).

    h_l = (W_l h_{l-1})₊,  W_l ~ N(0, 2γ²/n):     E ‖dh_l‖² = γ² ‖dh_{l-1}‖²     at every width n

w and -w are equally likely, and exactly one of them switches a unit on: half of E ‖W dh‖² is left.
So the squared speed of a curve is γ²ᴸ after L layers: random networks are smooth for γ < 1 and
rough for γ > 1, the more so the deeper they are. γ = 1 is the initialization of He et al. (2015).
A's notebooks draw such networks over the plane: `docs/pictures/random-networks.png`, made by the
example in `chainrule.plots.planes`.
Measured: the mean of ‖Δh_l‖² / (γ² ‖Δh_{l-1}‖²) over layers 2 to 10 of many networks, for two
points about 10⁻⁷ apart, and its distance from 1.
Bound: 5 standard errors, √(5/n) / √(layers) each: given the layer below, n times the ratio is a sum
of n independent terms 2·1{w·h > 0} (w·u)² with mean 1 and variance 5. One check in 1.7 million
raises a false alarm.
Raghu et al. (2017), ICML, theorem 1; Poole et al. (2016), NeurIPS.
"""

import math
from functools import partial

import torch
from torch import Tensor

from chainrule.lab.claim import Near, Picture, Verdict, ten_percent
from chainrule.models.feedforward.mlp import MLP

WIDTH, DEPTH = 32, 10
STEP = 1e-7
ERRORS = 5.0


def check(networks: int = 200, gain: float = 1.0, seed: int = 0) -> Verdict:
    """Random weights of mean zero.

    Args:
        networks: Random networks.
        gain: γ, the factor on the initial weights of He et al.
    """
    return verdict(networks, seed, gain)


def broken() -> Verdict:
    """tanh, which is flat far from zero."""
    return verdict(50, 0, gain=2.0, activation="tanh")


def near() -> Near:
    """Another factor, 5 % larger weights, and biases that switch most units on."""
    return {
        **ten_percent("γ²", lambda factor: verdict(200, 0, 1.0, predicted=factor)),
        "weights × 1.05": partial(verdict, 200, 0, 1.05, predicted=1 / 1.05**2),
        "biases of 0.5": partial(verdict, 200, 0, 1.0, bias=0.5),
    }


@torch.no_grad()
def verdict(
    networks: int,
    seed: int,
    gain: float,
    activation: str = "relu",
    bias: float = 0.0,
    predicted: float = 1.0,
) -> Verdict:
    """Squared speeds layer by layer; `predicted` changes the predicted γ²."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        squares = torch.stack([speeds(gain, activation, bias) for _ in range(networks)])
    factor = predicted * gain**2
    ratios = squares[:, 1:] / squares[:, :-1] / factor
    ratios = ratios[ratios.isfinite()]
    error = math.sqrt(5 / WIDTH / len(ratios))
    depth = [float(layer) for layer in range(1, DEPTH + 1)]
    growth = (squares / squares[:, :1]).nan_to_num()
    return Verdict(
        quantity="|mean of ‖Δh_l‖² / (γ² ‖Δh_{l-1}‖²) - 1|",
        measured=abs(ratios.mean().item() - 1),
        relation="≤",
        bound=ERRORS * error,
        picture=Picture(
            title="A random ReLU layer stretches curves by γ on average",
            x_label="layer l",
            y_label="‖Δh_l‖² / ‖Δh₁‖²",
            curves={"γ²⁽ˡ⁻¹⁾": (depth, [factor ** (layer - 1) for layer in depth])},
            points={
                "mean of all networks": (depth, growth.mean(0).tolist()),
                "one network": (depth, growth[0].tolist()),
                "another": (depth, growth[-1].tolist()),
            },
            log="y",
        ),
        details={"mean factor / γ²": ratios.mean().item(), "standard error": error},
    )


def speeds(gain: float, activation: str, bias: float) -> Tensor:
    """‖Δh_l‖² of two near points of the plane in every layer of one random network."""
    network = MLP(2, [WIDTH] * DEPTH, 1, activation).double()
    place = torch.randn(2, dtype=torch.float64)
    h = torch.stack([place, place + STEP * torch.randn(2, dtype=torch.float64)])
    found = []
    for layer in network.layers[:-1]:
        layer.weight.mul_(gain)  # type: ignore[operator]
        layer.bias.fill_(bias)  # type: ignore[operator]
        h = network.activation(layer(h))
        found.append((h[1] - h[0]).square().sum())
    return torch.stack(found)
